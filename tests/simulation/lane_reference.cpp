#include "lane_reference.h"

#include <algorithm>
#include <utility>

#include "decode/message_decoder.h"
#include "engine/epoch_ledger.h"
#include "engine/going_on.h"
#include "engine/spent.h"
#include "error.h"
#include "journal/last_release.h"
#include "nustream/users/gate.h"
#include "publish/release_json.h"
#include "users/identifiers.h"

namespace nustream::tests {
namespace {

std::int32_t partition_of(LaneId lane) {
  return static_cast<std::int32_t>(lane.value());
}

/// The lane's committed states, of one epoch or of any.
std::vector<journal::State> states_of(const AttachedCase& of, SimulatedBroker& broker, LaneId lane,
                                      std::optional<EpochId> epoch = {}) {
  std::vector<journal::State> states;
  for (const std::string& sealed : broker.committed_values({attached_topics::state, partition_of(lane)})) {
    journal::State state = journal::open_state(of.keys, sealed);
    if (!epoch || state.identity.epoch == *epoch) states.push_back(std::move(state));
  }
  return states;
}

/// The key of the stream's users, which lane 0 draws and every state holds.
noise::KeyBytes users_key(const AttachedCase& of, SimulatedBroker& broker) {
  const std::vector<std::string> states = broker.committed_values({attached_topics::state, 0});
  return states.empty() ? noise::KeyBytes{} : journal::open_state(of.keys, states.back()).record.users->key;
}

/// Where an epoch would go on from the lane's last release of epoch 0, which may be in the outbox of its last state.
/// Published or not, that outbox holds the last releases there are. Empty where there is none. Throws Failure(data)
/// where nothing can go on from it.
std::optional<lane::Carried> carried_by(const AttachedCase& of, SimulatedBroker& broker, LaneId lane) {
  std::vector<std::string> lines = broker.committed_values({attached_topics::releases, partition_of(lane)});
  const std::vector<journal::State> states = states_of(of, broker, lane, EpochId{0});
  if (!states.empty()) {
    for (std::string& line : lines_of_text(states.back().record.outbox)) lines.push_back(std::move(line));
  }
  std::erase_if(lines, [](const auto& line) { return journal::parse_last_release(line).epoch != EpochId{0}; });
  if (lines.empty()) return std::nullopt;
  return engine::carried_from(publish::read_release(lines.back()).value(), of.settings.config, of.keys.is_private());
}

/// What the lane's users have spent after the steps of the state.
journal::LedgerEntry spent_by(const AttachedCase& of, LaneId lane, const journal::State& state) {
  const config::Config& config = of.settings.config;
  const engine::EpochLedger ledger(
      {config.stream, lane, EpochId{0}, Position{0}, journal::Overlap::disjoint, of.settings.digest,
       config.privacy.neighbours(), of.keys.is_private(), "", config.descent.users, false},
      of.settings.mechanism, {});
  return ledger.entry(state.identity.steps, state.record.position);
}

/// The most that a user of any old lane spent. A lane that never began has spent nothing.
journal::LedgerEntry most_spent(const AttachedCase& now, const std::vector<OldLane>& old) {
  const privacy::Neighbours neighbours = now.settings.config.privacy.neighbours();
  std::optional<journal::LedgerEntry> most;
  for (const OldLane& lane : old) {
    if (!lane.spent) continue;
    const journal::LedgerEntry spent = engine::folded({&*lane.spent, 1}, neighbours);
    most = most ? engine::dearest(*most, spent, neighbours) : spent;
  }
  return most.value();
}

}  // namespace

Reference lane_reference(const AttachedCase& of, SimulatedBroker& broker, LaneId lane, const Stretch& stretch,
                         const std::optional<LaterEpoch>& later) {
  const config::Config& config = of.settings.config;
  record::RowBatch rows;
  record::Schema schema = config.schema;
  users::Identifiers identifiers(config::partitioner_of(config), {lane, of.partitions});
  if (config.users) {
    identifiers.use(users::UserKey(users_key(of, broker)));
    schema.user->reader = &identifiers;
  }
  decode::MessageDecoder decoder(config.input, schema);
  rows.dimension = decoder.dimension();
  decode::MessageBatch batch;
  const auto time_kind = broker.gives_times ? decode::TimeKind::broker : decode::TimeKind::producer;
  const std::deque<SimulatedEntry>& log = broker.log({attached_topics::input, partition_of(lane)});
  const std::uint64_t end = stretch.to.value_or(log.size());
  for (std::uint64_t offset = stretch.from; offset < std::min<std::uint64_t>(end, log.size()); ++offset) {
    const SimulatedEntry& entry = log[offset];
    if (entry.is_control) continue;
    decode::Message message{offset, entry.milliseconds, time_kind};
    if (entry.key) message.key = *entry.key;
    message.headers = entry.views;
    if (entry.value) message.value = *entry.value;
    batch.add(message);
  }
  decoder.decode(batch.messages(), rows);
  const bool stops = config.kafka.stop && end <= log.size();
  return undisturbed(of.settings, of.keys, lane, std::move(rows), Position{stretch.from}, stops, later);
}

bool may_change_lanes(const AttachedCase& of, SimulatedBroker& broker) {
  if (states_of(of, broker, LaneId{0}).empty()) return false;
  try {
    for (std::uint32_t lane = 0; lane < of.partitions; ++lane) {
      static_cast<void>(carried_by(of, broker, LaneId{lane}));
    }
    return true;
  } catch (const Failure&) {
    return false;
  }
}

bool all_began(const AttachedCase& of, SimulatedBroker& broker, EpochId epoch) {
  for (std::uint32_t lane = 0; lane < of.partitions; ++lane) {
    if (states_of(of, broker, LaneId{lane}, epoch).empty()) return false;
  }
  return true;
}

std::vector<OldLane> old_lanes(const AttachedCase& before, SimulatedBroker& broker) {
  std::vector<OldLane> old;
  for (std::uint32_t number = 0; number < before.partitions; ++number) {
    const LaneId lane{number};
    OldLane& one = old.emplace_back();
    std::vector<journal::State> states = states_of(before, broker, lane, EpochId{0});
    if (!states.empty()) {
      one.state = std::move(states.back());
      one.spent = spent_by(before, lane, *one.state);
    }
    const std::uint64_t end = one.state ? one.state->record.position.value() : 0;
    one.reference = lane_reference(before, broker, lane, {0, end});
    one.carried = carried_by(before, broker, lane);
  }
  return old;
}

LaterEpoch behind_barrier(const AttachedCase& now, const std::vector<OldLane>& old, LaneId lane) {
  const config::Config& config = now.settings.config;
  LaterEpoch later{EpochId{1}, {}, {}, {}, true};
  if (lane.value() < old.size()) later.carried = old[lane.value()].carried;
  journal::LedgerEntry spent = most_spent(now, old);
  // Windows are measured by the clock of a lane, and another lane has another clock: everybody counts anew.
  const bool goes_on = !config.descent.users->windows();
  if (!goes_on) spent = engine::without_counts(spent, config.privacy.neighbours());
  spent.lane = lane;
  spent.user->moved->change = 1;
  later.ledger.epochs.push_back(std::move(spent));
  if (!goes_on) return later;
  later.users.emplace();
  for (const OldLane& from : old) {
    for (const auto& [user, standing] : from.reference.users.back().counts) {
      // A user's lane is its hash modulo N.
      if (static_cast<std::uint32_t>(user.low) % now.partitions != lane.value()) continue;
      later.users->emplace(user, users::Standing{0, standing.count, standing.mass});
    }
  }
  return later;
}

void count_change(const AttachedCase& now, const std::vector<OldLane>& old, FaultCounts& happened) {
  ++happened["a change of the number of lanes"];
  if (now.settings.config.descent.users->windows()) ++happened["a change of lanes in which users begin anew"];
  for (std::uint32_t lane = 0; lane < now.partitions; ++lane) {
    const LaterEpoch later = behind_barrier(now, old, LaneId{lane});
    if (!later.users) return;
    for (const auto& [user, standing] : *later.users) {
      if (lane >= old.size() || !old[lane].reference.users.back().counts.contains(user)) {
        ++happened["a user who goes on counting in another lane"];
      }
    }
  }
}

}  // namespace nustream::tests
