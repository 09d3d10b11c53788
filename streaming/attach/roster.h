// Keeps which lanes this process has been given and which of them can go on. The exit code of the process follows
// from that.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "attach/lane_log.h"
#include "nustream/base/units.h"

namespace nustream::attach {

/// Ranks the reasons for which a lane stops: 0 done, 1 budget, 2 data. Any other reason has the rank
/// ends_the_process, and ends the process at once.
[[nodiscard]] int severity(Exit code);
inline constexpr int ends_the_process = 3;

/// With which exit code, and for which reason, a process ends when none of its lanes can go on.
struct Verdict {
  Exit code;
  std::optional<Failure> failure;  ///< set where the code stands for a failure, with the line that explains it
};

/// What is known of each assigned lane. A lane that is revoked is forgotten: it begins anew when it is assigned
/// again, here or elsewhere. To be used from one thread.
class Roster {
 public:
  void assign(LaneId lane) { assigned_.insert(lane); }
  /// True where the lane was waiting to be started.
  bool revoke(LaneId lane);
  [[nodiscard]] bool is_assigned(LaneId lane) const { return assigned_.count(lane) > 0; }

  /// The lane stopped, and stays with this process until it is revoked.
  void stop(LaneId lane, const LaneEnd& end) { stopped_.insert_or_assign(lane, end); }
  [[nodiscard]] bool has_stopped(LaneId lane) const { return stopped_.count(lane) > 0; }

  /// The lane is beyond kafka.max_lanes, and waits behind those that wait already. False where it waited before.
  bool wait(LaneId lane);
  /// The lane is started now. True where it had waited.
  bool start(LaneId lane) { return std::erase(waiting_, lane) > 0; }
  [[nodiscard]] bool is_waiting(LaneId lane) const;
  /// The lane that has waited longest; nothing where none waits.
  [[nodiscard]] std::optional<LaneId> first_waiting() const;

  /// A topic lacks the lane's partition. False where that was known before.
  bool lacks_partition(LaneId lane, const std::string& reason) { return homeless_.emplace(lane, reason).second; }
  void has_partition(LaneId lane) { homeless_.erase(lane); }

  /// Why none of the assigned lanes can go on; nothing while one of them can, or while none has stopped. A lane that
  /// waits for a partition keeps no process alive in which all others have stopped. But such a process has not done
  /// all of its work: where the others are done, the verdict is a failure that names the missing partition.
  [[nodiscard]] std::optional<Verdict> verdict() const;

 private:
  std::set<LaneId> assigned_;
  std::map<LaneId, LaneEnd> stopped_;
  std::deque<LaneId> waiting_;
  std::map<LaneId, std::string> homeless_;  // which topic, and what to do
};

}  // namespace nustream::attach
