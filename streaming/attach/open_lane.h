// A lane as its topics have it, taken over, checked, and caught up on what it owes.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "attach/lane_clients.h"
#include "attach/lane_state.h"
#include "attach/open_users.h"
#include "kafka/kafka_journal.h"
#include "kafka/lane_checks.h"

namespace nustream::attach {

/// How a lane may begin anew.
struct Renewal {
  /// Where the state is missing, was rolled back, is of other settings, at its horizon, or has no room for a segment.
  bool new_epoch = false;
  /// Together with new_epoch: where records at the position are gone, or the log is not the one that was read; and
  /// where a change of the lanes finds that closed users are lost.
  bool accept_gap = false;
  bool from_start = false;  ///< a new epoch begins at descent.start, not where the last release is
};

struct LaneOrder {
  const Setup* setup = nullptr;
  std::unique_ptr<const config::Mechanism> mechanism;  ///< a copy for this lane alone
  LaneId lane{0};
  std::uint32_t partitions = 0;  ///< of the input at present
  Renewal renewal;
  std::shared_ptr<const kafka::GroupMetadata> member;
  kafka::KafkaJournal::Post post;
  std::shared_ptr<std::atomic<bool>> cancelled;
  const std::atomic<bool>* out_of_time = nullptr;  ///< transactions are no longer waited for
};

struct OpenedLane {
  std::unique_ptr<kafka::KafkaJournal> journal;
  LaneState state;
  journal::NoiseCheckpoints noise;  ///< of the next step
  bool resumed = false;             ///< they are of a state that was found: somebody may have gone on from it
  StepCount released;               ///< steps of the epoch's last release
  /// Whole lines: the last release, or all that opening the lane published, which has no time yet.
  std::optional<kafka::LaneChecks::Published> last_published;
};

/// Takes the lane over, reads and checks its state, or makes its first one; publishes the committed outbox; begins a
/// new epoch where `renewal` allows it and it is needed. When it returns, the lane owes nothing and its state is
/// committed. Waits: for a thread of its own.
///
/// Throws KafkaFailure or Failure where the lane cannot go on, LaneInterrupted where another attempt may do,
/// LaneWithoutPartition before anything is taken over, LaneHasToWait before anything is committed, Cancelled.
[[nodiscard]] OpenedLane open_lane(LaneOrder order);

}  // namespace nustream::attach
