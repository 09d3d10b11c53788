// The runs of a lane of a topic that nothing disturbs: under the number of lanes with which the stream began, and
// under another one, behind the barrier between the two.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "attached_case.h"
#include "history.h"
#include "journal/ledger_chain.h"
#include "journal/state_record.h"
#include "simulated_broker.h"

namespace nustream::tests {

/// The offsets of a partition that an epoch reads: up to `to`, or all that there are from `from` on.
struct Stretch {
  std::uint64_t from = 0;
  std::optional<std::uint64_t> to{};
};

/// The run of the lane over a stretch of its partition.
[[nodiscard]] Reference lane_reference(const AttachedCase& of, SimulatedBroker& broker, LaneId lane,
                                       const Stretch& stretch, const std::optional<LaterEpoch>& later = {});

/// Whether a new epoch could go on from the last release of every lane, and the stream has begun.
[[nodiscard]] bool may_change_lanes(const AttachedCase& of, SimulatedBroker& broker);
/// Whether each lane has a state of this epoch.
[[nodiscard]] bool all_began(const AttachedCase& of, SimulatedBroker& broker, EpochId epoch);

/// What is left of a lane of the old number.
struct OldLane {
  Reference reference{};                        ///< the run up to the lane's last commit
  std::optional<journal::State> state{};        ///< that commit; empty where the lane never began
  std::optional<journal::LedgerEntry> spent{};  ///< what the lane's users spent in that run, likewise
  std::optional<lane::Carried> carried{};       ///< the lane's last release; empty where it had none
};
/// The old lanes by what their topics hold of them, once the lanes of another number have begun.
[[nodiscard]] std::vector<OldLane> old_lanes(const AttachedCase& before, SimulatedBroker& broker);

/// What a lane of the new number begins with: its users, from wherever they come, with what they have used up, and
/// the most that a user of any old lane spent.
[[nodiscard]] LaterEpoch behind_barrier(const AttachedCase& now, const std::vector<OldLane>& old, LaneId lane);

/// Counts a change of the number of lanes, and the users who moved.
void count_change(const AttachedCase& now, const std::vector<OldLane>& old, FaultCounts& happened);

}  // namespace nustream::tests
