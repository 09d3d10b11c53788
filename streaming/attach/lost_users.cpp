// Spends of users where the states that would tell of them are lost. The ledgers of all lanes are read instead, and
// the largest spend of any of them is charged to everybody.
#include "attach/lost_users.h"

#include <algorithm>

#include <fmt/format.h>

#include "attach/lane_change.h"
#include "engine/seal_batch.h"
#include "engine/spent.h"
#include "error.h"
#include "journal/state_record.h"
#include "kafka/interruption.h"
#include "kafka/lane_checks.h"
#include "kafka/lane_edit.h"
#include "kafka/topic_checks.h"
#include "log/log.h"
#include "users/closing.h"

namespace nustream::attach {
namespace {

/// Adds the lane with this ledger. A user may have been in any lane, so that the dearest one counts, part by part.
void add_ledger(const journal::Ledger& ledger, privacy::Neighbours asked, std::optional<SpentByLanes>& all) {
  if (ledger.epochs.empty()) return;
  const journal::LedgerEntry spent = engine::folded(ledger.epochs, asked);
  const std::uint32_t changes = engine::changes_of_lanes(ledger);
  if (!all) {
    all = {spent, changes};
    return;
  }
  all->most = engine::dearest(all->most, spent, asked);
  all->changes = std::max(all->changes, changes);
}

}  // namespace

void refuse_lost_spend(const kafka::LanePlace& place) {
  throw Failure(Exit::data, fmt::format("lane {}: state and ledger are lost, and nobody knows what its users have "
                                        "spent; restore the ledger topic",
                                        place.name()));
}

void warn_of_closed(const kafka::LanePlace& place, const std::string& why) {
  log::warning("closed_users_lost", fmt::format("lane {}: {}: {}", place.name(), why, users::closed_count_again),
               {{"lane", std::uint64_t{place.lane.value()}}});
}

void accept_lost_closed(const kafka::LanePlace& place, const std::string& lanes, bool accepts) {
  if (accepts) return warn_of_closed(place, "what is known of users is lost in lanes " + lanes);
  throw Failure(
      Exit::data,
      fmt::format("lane {}: what is known of users is lost in lanes {}: nobody can tell whom 'nustream users close' "
                  "closed there; restore topic '{}', or go on with --new-epoch --accept-gap, and close them again",
                  place.name(), lanes, place.topics.users));
}

void add_spent_by(const Setup& setup, const kafka::ClientSettings& client, const kafka::LanePlace& other,
                  bool may_have_state, const std::atomic<bool>& cancelled, std::optional<SpentByLanes>& all) {
  const config::Kafka& kafka = setup.config.kafka;
  const privacy::Neighbours asked = setup.config.privacy.neighbours();
  kafka::LaneEdit lane(client, kafka, other, {kafka.topics.ledger});
  lane.fence();
  kafka::LaneChecks checks(client, other, setup.keys, kafka.transaction, cancelled);
  const journal::Ledger ledger = checks.ledger();
  const auto sealed = may_have_state ? lane.load() : std::nullopt;
  journal::Ledger of_state;
  if (sealed) {
    const journal::State state = journal::open_state(setup.keys, *sealed);
    const bool is_asked = setup.config.users && other.lane.value() < setup.config.users->lanes;
    if (is_asked && state.record.users) {
      // A state with the key has turned up since this lane looked for one. This lane begins again from the beginning.
      throw LaneHasToWait(fmt::format("lane {} knows the key of the stream's users after all", other.name()));
    }
    of_state = engine::ledger_of(state.record);
  }
  // Where the two differ both are read: a state that was rolled back may know less spend than the topic, and a topic
  // that lost lines may know less than the state.
  add_ledger(of_state, asked, all);
  if (!sealed || of_state.head != ledger.head) add_ledger(ledger, asked, all);
  // Releases or an offset without a ledger: something was spent, and nobody knows how much.
  if (may_have_state && !sealed && ledger.epochs.empty() && checks.remains().any()) refuse_lost_spend(other);
}

std::optional<SpentByLanes> spent_by_lanes(const Setup& setup, const kafka::ClientSettings& client,
                                           const kafka::LanePlace& place, const journal::Ledger& own,
                                           const std::atomic<bool>& cancelled) {
  const config::Kafka& kafka = setup.config.kafka;
  std::optional<SpentByLanes> all;
  add_ledger(own, setup.config.privacy.neighbours(), all);
  const auto lanes = kafka::TopicChecks(client).partitions(place.topics.ledger, kafka::in(kafka.give_up));
  // The ledger topic's partitions are counted, because it is never cut: lanes may have had partitions of the input
  // that are gone.
  for (std::uint32_t lane = 0; lane < static_cast<std::uint32_t>(lanes.value_or(0)); ++lane) {
    // Its ledger was given, and is counted above.
    if (LaneId{lane} == place.lane) continue;
    if (cancelled.load()) throw kafka::Cancelled();
    add_spent_by(setup, client, {place.stream, LaneId{lane}, place.group, place.topics}, lane < setup.lanes_with_room,
                 cancelled, all);
  }
  return all;
}

}  // namespace nustream::attach
