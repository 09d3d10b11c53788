// Where what is known of users is lost: what they have spent all the same, and what the operator has to be told.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "attach/lane_state.h"
#include "journal/ledger_chain.h"
#include "kafka/client_settings.h"
#include "kafka/lane_place.h"

namespace nustream::attach {

/// Where no state tells how users were divided.
struct SpentByLanes {
  journal::LedgerEntry most;  ///< at least what a user of any lane spent in all of its epochs
  std::uint32_t changes = 0;  ///< no lane has taken a step after more changes of the lanes
};

/// Of every lane that the ledger topic has room for, but for that of `place`, whose ledger is `own`. Nothing of a
/// stream that spent nothing. Failure(data) where a lane has lost both state and ledger. Waits; KafkaFailure,
/// Cancelled.
[[nodiscard]] std::optional<SpentByLanes> spent_by_lanes(const Setup& setup, const kafka::ClientSettings& client,
                                                         const kafka::LanePlace& place, const journal::Ledger& own,
                                                         const std::atomic<bool>& cancelled);

/// Failure(data): nobody knows what the users of this lane have spent.
[[noreturn]] void refuse_lost_spend(const kafka::LanePlace& place);
/// One line of the log: whoever was closed counts again. `why`: what is lost.
void warn_of_closed(const kafka::LanePlace& place, const std::string& why);
/// Of lanes such as "0, 2", whose users move to this one: says so where the operator `accepts` it, else
/// Failure(data).
void accept_lost_closed(const kafka::LanePlace& place, const std::string& lanes, bool accepts);

}  // namespace nustream::attach
