#include "publish/status.h"

namespace nustream::publish {

std::optional<inference::PathStatus> status_of(const lane::Release& release) {
  if (release.batch_length == 0) return std::nullopt;
  return inference::path_status(release.batch_means, release.theta.size());
}

bool may_show_intervals(const lane::Release& release) {
  const auto status = status_of(release);
  return !status || status->verdict == inference::Verdict::settled;
}

void append_status(const inference::PathStatus& status, JsonWriter& json) {
  const auto object = json.object("status");
  json.field("verdict", inference::name(status.verdict));
  json.field("trend", status.trend);
  json.field("halves", status.halves);
  json.field("ends", status.ends);
  json.field("memory", status.memory);
  json.field("false_alarm", status.false_alarm);
}

std::string_view in_words(std::string_view verdict) noexcept {
  if (verdict == "settled") return "the path has settled: nothing is seen to move";
  if (verdict == "converging") return "the path still converges, or is too short to tell: there is no interval yet";
  if (verdict == "drifting") return "the path drifts: the estimate goes on moving, and there is no interval";
  if (verdict == "diverged") return "the path has diverged: these numbers are no answer; take a smaller step size";
  return {};
}

bool is_warning(std::string_view verdict) noexcept {
  return verdict == "drifting" || verdict == "diverged";
}

}  // namespace nustream::publish
