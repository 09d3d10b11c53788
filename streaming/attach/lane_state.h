// A lane of a topic with everything that is sealed with it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attach/topic_users.h"
#include "config/mechanism.h"
#include "engine/epoch_ledger.h"
#include "engine/estimator.h"
#include "journal/journal.h"
#include "journal/release_chain.h"
#include "journal/sealed_state.h"
#include "kafka/seen_records.h"
#include "secrets/keyring.h"

namespace nustream::attach {

/// What all lanes of a process share, unchanged. Outlives them.
struct Setup {
  const config::Config& config;
  config::EpochDigests digests;
  secrets::Keyring keys;
  std::size_t release_bytes_max;     ///< no release is longer
  std::size_t letter_bytes_max;      ///< the dead letters' topic takes no longer record
  std::uint32_t lanes_with_room;     ///< lanes below it had a partition in every topic at the start
  std::size_t user_bytes_max = 0;    ///< the topic of users takes no longer record
  std::size_t user_entries_max = 1;  ///< of a record of the store of users, so that it fits
  std::string ranges_rule{};         ///< of settings that were measured (measuring.h); empty where none were
};

/// One lane between two batches. One thread at a time.
struct LaneState {
  /// The lane's own: a spend caches, and is for one thread at a time.
  std::unique_ptr<const config::Mechanism> mechanism;
  engine::Estimator lane;
  engine::EpochLedger ledger;
  kafka::SeenRecords seen;
  std::optional<Position> stop;  ///< resolved once
  std::string stop_asked;        ///< from this
  std::uint64_t rejected = 0;
  std::uint32_t partitions = 0;             ///< of the input when the lane began, in its first epoch
  std::optional<StepCount> steps_sealed{};  ///< of the last state; nothing: none of this epoch yet
  std::unique_ptr<TopicUsers> users{};      ///< where the unit is the user
  journal::ReleaseChain releases{};         ///< up to the last commit

  [[nodiscard]] LaneId id() const { return ledger.identity().lane; }
};

/// What a batch adds to the lane's state.
struct BatchContent {
  journal::NoiseCheckpoints noise;
  std::string outbox;
  std::vector<journal::DeadLetter> dead_letters;
  StepCount released;   ///< steps of the last release, the outbox's included
  bool closes = false;  ///< the lane is let go with it
};

/// Seals the lane as it is, with a ledger line where one is due (engine::EpochLedger::append_lines()).
[[nodiscard]] journal::Batch seal_batch(const Setup& setup, LaneState& state, BatchContent content,
                                        const std::string& bookmark);

}  // namespace nustream::attach
