// Which lanes are here, and what their ends mean for the process. It knows no lane itself, and asks nobody.
#include "attach/roster.h"

#include <algorithm>

namespace nustream::attach {

int severity(Exit code) {
  switch (code) {
    case Exit::done:
      return 0;
    case Exit::exhausted:
      return 1;
    case Exit::data:
      return 2;
    // The others are reasons that concern the whole process, such as a missing right.
    default:
      return ends_the_process;
  }
}

bool Roster::revoke(LaneId lane) {
  assigned_.erase(lane);
  stopped_.erase(lane);
  homeless_.erase(lane);
  // start() forgets that the lane waits.
  return start(lane);
}

bool Roster::is_waiting(LaneId lane) const {
  return std::ranges::find(waiting_, lane) != waiting_.end();
}

bool Roster::wait(LaneId lane) {
  if (is_waiting(lane)) return false;
  waiting_.push_back(lane);
  return true;
}

std::optional<LaneId> Roster::first_waiting() const {
  if (waiting_.empty()) return std::nullopt;
  return waiting_.front();
}

std::optional<Verdict> Roster::verdict() const {
  // A verdict needs at least one lane that has stopped, and none that can go on. A lane beyond kafka.max_lanes is
  // assigned without having stopped, and keeps the process alive.
  if (stopped_.empty() || stopped_.size() + homeless_.size() < assigned_.size()) return std::nullopt;
  // The worst end decides: data before budget, and budget before done.
  const auto worst = std::max_element(stopped_.begin(), stopped_.end(), [](const auto& left, const auto& right) {
    return severity(left.second.code) < severity(right.second.code);
  });
  const LaneEnd& end = worst->second;
  if (end.code == Exit::data) return Verdict{end.code, Failure(end.code, end.reason)};
  // All that could run is done, but a lane without its partition never ran.
  if (end.code == Exit::done && !homeless_.empty()) {
    return Verdict{end.code, Failure(Exit::configuration, homeless_.begin()->second)};
  }
  return Verdict{end.code, std::nullopt};
}

}  // namespace nustream::attach
