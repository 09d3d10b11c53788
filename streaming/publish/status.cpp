#include "publish/status.h"

#include "publish/json_text.h"

namespace nustream::publish {

std::optional<inference::PathStatus> status_of(const lane::Release& release) {
  if (release.batch_length == 0) return std::nullopt;
  return inference::path_status(release.batch_means, release.theta.size());
}

bool may_show_intervals(const lane::Release& release) {
  const auto status = status_of(release);
  return !status || status->verdict == inference::Verdict::settled;
}

ShownStatus shown(const inference::PathStatus& status) {
  return {std::string(inference::name(status.verdict)),
          status.trend,
          status.halves,
          status.ends,
          status.memory,
          status.false_alarm};
}

void append_status(const ShownStatus& status, std::string& out) {
  out += ",\"status\":{\"verdict\":";
  append_string(status.verdict, out);
  append_field("trend", status.trend, out);
  append_field("halves", status.halves, out);
  append_field("ends", status.ends, out);
  append_field("memory", status.memory, out);
  append_field("false_alarm", status.false_alarm, out);
  out += '}';
}

}  // namespace nustream::publish
