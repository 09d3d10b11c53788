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

void append_status(const inference::PathStatus& status, std::string& out) {
  out += ",\"status\":{\"verdict\":";
  append_string(inference::name(status.verdict), out);
  append_field("trend", status.trend, out);
  append_field("halves", status.halves, out);
  append_field("ends", status.ends, out);
  append_field("memory", status.memory, out);
  append_field("false_alarm", status.false_alarm, out);
  out += '}';
}

}  // namespace nustream::publish
