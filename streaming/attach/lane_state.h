// A lane of a topic, with everything that is sealed together with it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attach/batch_content.h"
#include "attach/setup.h"
#include "attach/topic_users.h"
#include "config/mechanism.h"
#include "engine/epoch_ledger.h"
#include "engine/estimator.h"
#include "journal/journal.h"
#include "journal/release_chain.h"
#include "journal/state_record.h"
#include "kafka/seen_records.h"
#include "secrets/keyring.h"

namespace nustream::attach {

/// One lane between two batches. To be used from one thread at a time.
struct LaneState {
  /// A copy for this lane alone: the spend in it caches what it has computed, and may be used by one thread at a
  /// time.
  std::unique_ptr<const config::Mechanism> mechanism;
  engine::Estimator lane;
  engine::EpochLedger ledger;
  kafka::SeenRecords seen;
  std::optional<Position> stop;  ///< where the lane ends, resolved once
  std::string stop_asked;        ///< the setting that `stop` was resolved from
  std::uint64_t rejected = 0;
  std::uint32_t partitions = 0;             ///< the input's, when the lane began its first epoch
  std::optional<StepCount> steps_sealed{};  ///< steps of the last state; nothing before this epoch's first state
  std::unique_ptr<TopicUsers> users{};      ///< where the unit is the user
  journal::ReleaseChain releases{};         ///< as of the last commit

  [[nodiscard]] LaneId id() const { return ledger.identity().lane; }
};

/// Seals the lane as it is together with `content`, and adds a ledger line where one is due
/// (engine::EpochLedger::append_lines()). `bookmark` is the journal's. What it returns is one transaction.
[[nodiscard]] journal::Batch seal_lane(const Setup& setup, LaneState& state, BatchContent content,
                                       const std::string& bookmark);

}  // namespace nustream::attach
