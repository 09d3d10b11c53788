// Which lanes this process has been given, and which of them can go on: the book-keeping behind its exit code.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "attach/lane_end.h"
#include "nustream/base/units.h"

namespace nustream::attach {

/// How bad a reason is to do nothing more: data before budget before done; anything else is worse than all three, and
/// ends the process at once.
[[nodiscard]] int severity(Exit code);
inline constexpr int ends_the_process = 3;

/// What a process that can do nothing more gives as its reason.
struct Verdict {
  Exit code;
  std::optional<Failure> failure;  ///< where the code is one, with its line
};

/// Lanes by what is known of them. A lane that moves is forgotten: elsewhere, or here the next time, it begins anew.
/// One thread.
class Roster {
 public:
  void assign(LaneId lane) { assigned_.insert(lane); }
  /// True where the lane was waiting to be started.
  bool revoke(LaneId lane);
  [[nodiscard]] bool is_assigned(LaneId lane) const { return assigned_.count(lane) > 0; }

  /// The lane stopped, and stays with this process until it is revoked.
  void stop(LaneId lane, const LaneEnd& end) { stopped_.insert_or_assign(lane, end); }
  [[nodiscard]] bool has_stopped(LaneId lane) const { return stopped_.count(lane) > 0; }

  /// Beyond kafka.max_lanes, behind those that wait: false where it waited already.
  bool wait(LaneId lane);
  /// It is started now: true where it had waited.
  bool start(LaneId lane) { return std::erase(waiting_, lane) > 0; }
  [[nodiscard]] bool is_waiting(LaneId lane) const;
  /// The one that has waited longest.
  [[nodiscard]] std::optional<LaneId> first_waiting() const;

  /// A topic lacks the lane's partition: false where that is known.
  bool lacks_partition(LaneId lane, const std::string& reason) { return homeless_.emplace(lane, reason).second; }
  void has_partition(LaneId lane) { homeless_.erase(lane); }

  /// Why none of the assigned lanes can go on; nothing while one can, or while none has stopped. Lanes that wait for
  /// a partition hold nobody up, but are not done either.
  [[nodiscard]] std::optional<Verdict> verdict() const;

 private:
  std::set<LaneId> assigned_;
  std::map<LaneId, LaneEnd> stopped_;
  std::deque<LaneId> waiting_;
  std::map<LaneId, std::string> homeless_;  // which topic, and what to do
};

}  // namespace nustream::attach
