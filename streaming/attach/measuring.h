// Measures the settings of a topic's stream that are "private": once for all lanes, over the first records of
// partition 0, before any lane is opened.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "config/config.h"
#include "journal/state_record.h"
#include "kafka/kafka_journal.h"
#include "secrets/keyring.h"

namespace nustream::attach {

/// What measuring needs. It owns all of that, since the thread that measures may outlive its caller (start_up.h).
struct MeasuringOrder {
  config::Config asked;  ///< config::read_config_to_measure(), with Config::measuring
  secrets::Keyring keys;
  std::uint32_t partitions;               ///< of the input
  std::uint32_t lanes_with_room;          ///< lanes below it have a partition in every topic
  std::function<void(std::string)> tell;  ///< tells the operator what is waited for
  /// Runs slices of the transaction where they may wait. Empty: on a thread of the measuring's own.
  kafka::KafkaJournal::Post post{};
};

/// The digest of what is measured, and how. The state that the measuring commits has it as its settings digest, until
/// lane 0 begins its first epoch of steps.
[[nodiscard]] std::string ranges_rule(const config::Config& asked, bool is_private);

/// Whether the state is the one that a measuring committed, whatever the present settings say: no epoch of steps has
/// begun behind it.
[[nodiscard]] bool has_only_measured(const journal::State& state);

/// Returns what was measured, in the form in which lane 0's state keeps it (config/ranges.h). It is read from that
/// state; where there is no state, the first ranges.records records of partition 0 are waited for and measured.
///
/// One lane measures and all lanes take its values. All lanes learn one model, whose coefficients and sums can only
/// be combined in the same units and under the same bounds; and the records of the other lanes pay nothing for
/// measuring. The settings name partition 0 beforehand, so that which records are measured depends on no record and
/// no broker.
///
/// The measuring is epoch 0 of lane 0, and has one step. Its ledger line and the state that holds the values are one
/// transaction under the lane's own transactional id. So only one of several instances can commit, and the others
/// find its values. An instance that dies before the commit has shown nothing, and the key of its noise is gone with
/// it. The lane's next epoch takes its steps over the same records, and the ledger adds the costs of both.
///
/// Where the unit is the user, lane 0 draws the key of the stream's users here, and its first state holds it,
/// together with how users are divided among lanes. What is measured are records of users who count in lane 0, so
/// that nobody whose records are elsewhere pays for it. The measuring uses nothing of a user's limits up: it counts
/// nobody, its ledger line carries no counts over, and its store is empty.
///
/// Throws Failure(configuration) for what cannot be measured and where kafka.stop leaves too few records, before
/// anything is spent; Failure(exhausted) where measuring alone crosses privacy.budget; Failure(data) where lane 0 has
/// a state of other settings, or releases, a ledger or an offset without a state, and where the unit is the user and
/// another lane has any of these while lane 0 has no state; KafkaFailure; and Cancelled once `cancelled` is true. It
/// waits for brokers and records, and so needs a thread of its own.
[[nodiscard]] std::string measure_stream(const MeasuringOrder& order, const std::atomic<bool>& cancelled);

}  // namespace nustream::attach
