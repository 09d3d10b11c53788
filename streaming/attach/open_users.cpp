// Where the users of a lane come from when an epoch begins: from its own store, from those of all old lanes after a
// change of their number, or from nowhere, with everything that was ever spent charged to everybody. Which of these
// holds is decided by what states, closing marks and ledgers say.
#include "attach/open_users.h"

#include <fmt/format.h>

#include "attach/lost_users.h"
#include "engine/spent.h"
#include "error.h"
#include "kafka/interruption.h"
#include "kafka/kafka_journal.h"
#include "users/going_on.h"
#include "users/user_key.h"

namespace nustream::attach {
namespace {

/// The limits under which the epoch before counted its users; nothing where there was none, or where it counted
/// nobody.
std::optional<users::Limits> last_limits(const LanePast& past) {
  const journal::Ledger& ledger = past.ledger;
  if (past.has_only_measured || ledger.epochs.empty() || !ledger.epochs.back().user) return std::nullopt;
  return ledger.epochs.back().user->limits;
}

/// Refuses to divide users otherwise than `division` unless a new epoch is asked for.
void require_change(const LanePast& past, const kafka::LanePlace& place, const users::Division& division) {
  if (past.may_change) return;
  throw Failure(Exit::data, fmt::format("lane {}: the users of the stream are divided among {} lanes so far; begin a "
                                        "new epoch of all lanes with --new-epoch",
                                        place.name(), division.lanes));
}

}  // namespace

/// The lane's store as of now. Its end is the high watermark: older producers are fenced, so that every transaction
/// that they had left open is committed or aborted by now.
UserStore UsersOpening::store(std::uint32_t change) const {
  const config::Users& settings = *setup_.config.users;
  return {{place_.stream, place_.lane},
          settings,
          {settings.lanes, change, config::partitioner_of(setup_.config)},
          {.entries_max = setup_.user_entries_max},
          partition().end(),
          setup_.config.state.directory};
}

std::unique_ptr<TopicUsers> UsersOpening::rebuilt(const journal::UsersOfState& before) const {
  const users::TopicMark mark = users::decode_topic_mark(before.mark);
  return rebuilt_users(store(mark.division.change), before, partition(), place_.name());
}

std::unique_ptr<TopicUsers> UsersOpening::resumed(const journal::StateRecord& record) const {
  if (!record.users)
    throw Failure(Exit::data,
                  fmt::format("lane {}: the state holds no users: 'nustream users end' ended them; begin a "
                              "new epoch with --new-epoch, which is charged beside what users have spent",
                              place_.name()));
  try {
    // The table has to have the very digest that the state knows: with an older one users would count twice.
    return rebuilt(*record.users);
  } catch (const kafka::KafkaFailure&) {
    throw;
  } catch (const LaneWasClosed&) {
    throw;
  } catch (const Failure& failure) {
    throw Failure(failure.code(),
                  fmt::format("lane {}: topic '{}': {}", place_.name(), place_.topics.users, failure.what()));
  }
}

bool UsersOpening::is_divided_so(const users::Division& division) const {
  return division.lanes == setup_.config.users->lanes &&
         division.partitioner == config::partitioner_of(setup_.config);
}

LanesBefore UsersOpening::lanes_of(const Divided& division) const {
  return {setup_, client_, place_, cancelled_, division.key, division.division};
}

/// Begins an epoch in which everybody counts anew. It is charged beside all epochs before it.
EpochUsers UsersOpening::anew(const Divided& now) const {
  return {std::make_unique<TopicUsers>(store(now.division.change), now.key), false};
}

/// Decides by what is left of the lane's past how its users begin. Another lane can only have begun a newer division
/// after this lane was closed for it. So the other lanes are asked for a newer division only where this lane is
/// closed.
EpochUsers UsersOpening::of_epoch(const LanePast& past, const Write& write) const {
  if (past.state == nullptr || !past.state->users) return of_lost_state(past, write);
  const journal::UsersOfState& known = *past.state->users;
  const Divided own{users::UserKey(known.key), users::decode_topic_mark(known.mark).division};
  if (is_divided_so(own.division)) {
    try {
      return of_same_lanes(known, past);
    } catch (const LaneWasClosed&) {
      const auto newest = newer_than(own);
      if (!newest) throw;
      return begun_by_others(past, *newest, write);
    }
  }
  // Behind a state with steps, another division is another digest, which was refused before.
  if (past.has_only_measured) require_change(past, place_, own.division);
  const LanesBefore lanes = lanes_of(own);
  if (lanes.closing(place_.lane)) {
    if (const auto newest = newer_than(own)) return begun_by_others(past, *newest, write);
  }
  return changed(past, own, lanes.of_state(known, past.ledger, past.has_only_measured), write);
}

EpochUsers UsersOpening::of_same_lanes(const journal::UsersOfState& known, const LanePast& past) const {
  const config::Users& settings = *setup_.config.users;
  const std::optional<users::Limits> before = last_limits(past);
  EpochUsers epoch;
  // The state is the one of the measuring, and holds an empty store.
  if (past.has_only_measured && !past.may_change) {
    // Where the state has steps, a lost store has been refused by now. A state of the measuring alone comes here
    // unchecked, and resumed() refuses a lost store behind it.
    epoch.users = resumed(*past.state);
    epoch.users->begin_anew();
    return epoch;
  }
  // Otherwise a count would mean something else than the limits that it is compared with.
  epoch.carries_over =
      known.identity == settings.identity && before && users::are_of_one_kind(*before, *settings.limits);
  auto users = unless_lost([&] {
    auto found = rebuilt(known);
    // `carry_over` and `begin_anew` only prepare records; they are written with the epoch's first transaction.
    epoch.carries_over ? found->carry_over(*before) : found->begin_anew();
    return found;
  });
  if (users) {
    epoch.users = *std::move(users);
    return epoch;
  }
  const Divided own{users::UserKey(known.key), users::decode_topic_mark(known.mark).division};
  // A damaged store may have lost the lane's closing mark among its records, or the reading may have stopped before
  // the mark. So the mark is looked for by itself, before the lane begins anew.
  if (lanes_of(own).closing(place_.lane)) throw LaneWasClosed(place_.name());
  warn_of_closed(place_, "its store is lost");
  return anew(own);
}

/// Opens users where the lane's own state is lost or knows none. The key, and how users are divided, are taken from
/// the other lanes' states. Where none of them has users either, lane 0 draws a key, and the others wait for its
/// first state.
EpochUsers UsersOpening::of_lost_state(const LanePast& past, const Write& write) const {
  const std::optional<Divided> others = divided_by_others();
  if (others) return of_lost_state(past, *others, write);
  if (place_.lane != LaneId{0}) {
    throw LaneHasToWait(
        fmt::format("lane {} waits for lane 0, which draws the key of the stream's users", place_.name()));
  }
  return of_new_key(past, write);
}

/// Lane 0 draws a key of users. Where there was another key before, nobody knows any more in which lane a user has
/// been. So all old lanes are taken together as one lane that is closed, whose counts nobody knows, and every new
/// lane begins with the largest spend of any old lane. The number of that change is larger by one than those in the
/// ledgers, since lanes may already be closed for a change that no lane has begun.
EpochUsers UsersOpening::of_new_key(const LanePast& past, const Write& write) const {
  if (past.state == nullptr && past.has_remains && past.ledger.epochs.empty()) refuse_lost_spend(place_);
  const auto spent = spent_by_lanes(setup_, client_, place_, past.ledger, cancelled_);
  users::UserKey key = users::new_user_key(setup_.keys, place_.stream);
  // No lane has spent anything. So no user can have been in another lane.
  if (!spent) return {std::make_unique<TopicUsers>(store(0), std::move(key)), false};
  if (!past.may_change) {
    throw Failure(Exit::data,
                  fmt::format("lane {}: the key of the stream's users is lost, and other lanes have spent; "
                              "begin a new epoch of all lanes with --new-epoch",
                              place_.name()));
  }
  warn_of_closed(place_, "the key of the stream's users is lost or was destroyed");
  const Divided lost{std::move(key), {1, spent->changes + 1, config::partitioner_of(setup_.config)}};
  const LanesBefore lanes = lanes_of(lost);
  // The mark stands for all old lanes together. The other lanes find it, and begin behind the same change.
  write(lanes.record_of(lanes.of_lost_key(spent->most)));
  return changed(past, lost, std::nullopt, write);
}

/// Opens the users of a lane of which only the ledger is left, while other lanes know the key. The ledger tells what
/// the lane spent, and after which change of the number of lanes it began.
EpochUsers UsersOpening::of_lost_state(const LanePast& past, const Divided& newest, const Write& write) const {
  const users::Division& division = newest.division;
  if (past.state == nullptr && past.has_remains && past.ledger.epochs.empty()) refuse_lost_spend(place_);
  // The first division needs no change to have begun.
  const bool began =
      division.change == 0 || (past.has_remains && engine::changes_of_lanes(past.ledger) >= division.change);
  if (is_divided_so(division)) {
    if (!began) return of_new_lane(past, newest);
    if (lanes_of(newest).closing(place_.lane)) throw LaneWasClosed(place_.name());
    if (past.has_remains) warn_of_closed(place_, "its state is lost, or its users were ended");
    return anew(newest);
  }
  require_change(past, place_, division);
  // The lane did not exist in that division, and has no mark to leave.
  if (place_.lane.value() >= division.lanes) return changed(past, newest, std::nullopt, write);
  if (!began) return begun_by_others(past, newest, write);
  return changed(past, newest, lanes_of(newest).without_state(past.ledger), write);
}

/// Opens the users of a lane that has taken no step of the division `newest`, which other lanes have begun.
EpochUsers UsersOpening::begun_by_others(const LanePast& past, const Divided& newest, const Write& write) const {
  if (is_divided_so(newest.division)) return of_new_lane(past, newest);
  return passed_over(past, newest, lanes_of(division_before(newest)), write);
}

/// Leaves the closing mark of a division that this lane never took a step of, and goes on to the division after it.
/// The tables of the lanes before are read only once for that, since the mark then holds what they tell.
EpochUsers UsersOpening::passed_over(const LanePast& past, const Divided& passed, const LanesBefore& before,
                                     const Write& write) const {
  if (lanes_of(passed).closing(place_.lane)) return changed(past, passed, std::nullopt, write);
  return changed(past, passed, before.of_skipped(), write);
}

/// The division before `now`, as the closing mark of lane 0 tells it. That mark has to be there: a lane that began
/// `now` had read the closing marks of all lanes before.
UsersOpening::Divided UsersOpening::division_before(const Divided& now) const {
  users::Division before = now.division;
  --before.change;
  const auto first = lanes_of({now.key, before}).closing(LaneId{0});
  if (!first) throw LaneHasToWait(fmt::format("lane {} waits for the closing mark of lane 0", place_.name()));
  return {now.key, first->mark.division};
}

EpochUsers UsersOpening::of_new_lane(const LanePast& past, const Divided& now) const {
  return changed(past, division_before(now), std::nullopt, {});
}

/// Closes the lane with the mark `own`, where it has one to leave, and begins the division that lane 0 was closed
/// for. Where that is not the division of the present settings, it is passed over and the next one is begun: two
/// lanes must never begin different divisions under the same number of a change.
EpochUsers UsersOpening::changed(const LanePast& past, const Divided& before,
                                 const std::optional<users::ClosingMark>& own, const Write& write) const {
  const LanesBefore lanes = lanes_of(before);
  // A mark that is there is kept: other lanes may have read it.
  if (own && !lanes.closing(place_.lane)) write(lanes.record_of(*own));
  const Divided next{before.key, lanes.next()};
  if (!is_divided_so(next.division)) {
    // Whether this lane belongs to the division that is passed over.
    const bool was_one = place_.lane.value() < next.division.lanes;
    return was_one ? passed_over(past, next, lanes, write) : changed(past, next, std::nullopt, write);
  }
  MovedUsers moved = lanes.read();
  if (!moved.lost.empty()) accept_lost_closed(place_, moved.lost, past.may_change && past.accepts_loss);
  EpochUsers epoch{std::make_unique<TopicUsers>(store(next.division.change), before.key), moved.carries_over,
                   std::move(moved.spent)};
  epoch.users->take_over(moved.entries);
  return epoch;
}

std::optional<UsersOpening::Divided> UsersOpening::newer_than(const Divided& own) const {
  std::optional<Divided> others = divided_by_others();
  return others && others->division.change > own.division.change ? std::move(others) : std::nullopt;
}

/// The newest division that the state of any other lane tells of.
std::optional<UsersOpening::Divided> UsersOpening::divided_by_others() const {
  std::optional<Divided> newest;
  for (std::uint32_t lane = 0; lane < setup_.config.users->lanes; ++lane) {
    if (LaneId{lane} == place_.lane) continue;
    auto found = divided_by(LaneId{lane});
    if (found && (!newest || found->division.change > newest->division.change)) newest = std::move(found);
  }
  return newest;
}

std::optional<UsersOpening::Divided> UsersOpening::divided_by(LaneId lane) const {
  // The opening may take long with many lanes.
  if (cancelled_.load()) throw kafka::Cancelled();
  const kafka::LanePlace other{place_.stream, lane, place_.group, place_.topics};
  const auto sealed = kafka::committed_state(client_, other, setup_.config.kafka.transaction);
  if (!sealed) return std::nullopt;
  const journal::State state = journal::open_state(setup_.keys, *sealed);
  if (!state.record.users) return std::nullopt;
  return Divided{users::UserKey(state.record.users->key),
                 users::decode_topic_mark(state.record.users->mark).division};
}

}  // namespace nustream::attach
