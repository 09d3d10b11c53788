// What to do where the store or the key of users is lost: find out what the users have spent all the same, and tell
// the operator what nobody can know any more.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "attach/lane_state.h"
#include "journal/ledger_chain.h"
#include "kafka/client_settings.h"
#include "kafka/partition.h"

namespace nustream::attach {

/// What users have spent in all lanes, as far as ledgers tell. It is needed where no state says how users were
/// divided.
struct SpentByLanes {
  journal::LedgerEntry most;  ///< at least what a user of any lane spent in all of its epochs
  std::uint32_t changes = 0;  ///< the most changes of the number of lanes after which any lane has taken a step
};

/// Reads the ledgers of every lane that the ledger topic has a partition for. The lane of `place` is not read again:
/// `own` is its ledger. Returns nothing where the stream has spent nothing. Throws Failure(data) where a lane has
/// lost both state and ledger, and LaneHasToWait where the state of some lane knows the users' key after all. Waits
/// for brokers: throws KafkaFailure and Cancelled.
///
/// Each of those lanes is fenced before its ledger is read, so that no producer from before commits more of its spend
/// later. An instance that has the lane opens it again.
[[nodiscard]] std::optional<SpentByLanes> spent_by_lanes(const Setup& setup, const kafka::ClientSettings& client,
                                                         const kafka::LanePlace& place, const journal::Ledger& own,
                                                         const std::atomic<bool>& cancelled);

/// Fences the lane at `other`, and adds to `all` what it has spent. `may_have_state` says whether the state topic has
/// a partition for it. Throws as spent_by_lanes().
void add_spent_by(const Setup& setup, const kafka::ClientSettings& client, const kafka::LanePlace& other,
                  bool may_have_state, const std::atomic<bool>& cancelled, std::optional<SpentByLanes>& all);

/// Throws Failure(data): nobody knows what the users of this lane have spent.
[[noreturn]] void refuse_lost_spend(const kafka::LanePlace& place);
/// Warns in the log that users who were closed count again. `why` says what was lost.
void warn_of_closed(const kafka::LanePlace& place, const std::string& why);
/// Decides whether to go on without the closed users of `lanes`, such as "0, 2": users of these lanes move to this
/// lane, and nobody knows which of them were closed. Where the operator `accepts` the loss, this warns in the log;
/// otherwise it throws Failure(data).
void accept_lost_closed(const kafka::LanePlace& place, const std::string& lanes, bool accepts);

}  // namespace nustream::attach
