// Opens a lane: takes it over from any other instance, checks its topics against its state, and publishes what it
// owes.
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
  /// A new epoch may begin where the lane cannot go on: its state is missing, was rolled back, is of other settings
  /// or at its horizon, or has no room for another segment of noise.
  bool new_epoch = false;
  /// Together with new_epoch: a new epoch may also begin where records at the position are gone, where the log is not
  /// the one that was read, and where a change of the number of lanes finds that closed users are lost.
  bool accept_gap = false;
  bool from_start = false;  ///< a new epoch begins at descent.start, not where the last release is
};

/// What opening a lane needs. It owns what it does not share, since it is carried to another thread.
struct LaneOrder {
  const Setup* setup = nullptr;
  std::unique_ptr<const config::Mechanism> mechanism;  ///< a copy for this lane alone
  LaneId lane{0};
  std::uint32_t partitions = 0;  ///< how many the input has at present
  Renewal renewal;
  std::shared_ptr<const kafka::GroupMetadata> member;
  kafka::KafkaJournal::Post post;
  std::shared_ptr<std::atomic<bool>> cancelled;
  const std::atomic<bool>* out_of_time = nullptr;  ///< once true, transactions are no longer waited for
};

struct OpenedLane {
  std::unique_ptr<kafka::KafkaJournal> journal;
  LaneState state;
  journal::NoiseCheckpoints noise;  ///< from which the noise of the next step is made
  bool resumed = false;             ///< `noise` is from a state that was found: another run may have used it too
  StepCount released;               ///< steps of the epoch's last release
  /// Whole lines: the last release, or all releases that opening the lane published, which have no time yet.
  std::optional<kafka::LaneChecks::Published> last_published;
};

/// Takes the lane over, reads and checks its state or makes its first one, and publishes the committed outbox. It
/// begins a new epoch where one is needed and `renewal` allows it. When it returns, the lane owes nothing and its
/// state is committed. It waits for brokers, and so needs a thread of its own.
///
/// Throws KafkaFailure or Failure where the lane cannot go on, LaneInterrupted where another attempt may succeed,
/// LaneWithoutPartition before anything is taken over, LaneHasToWait before the lane's state is committed, and
/// Cancelled once `cancelled` is true.
[[nodiscard]] OpenedLane open_lane(LaneOrder order);

}  // namespace nustream::attach
