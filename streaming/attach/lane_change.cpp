#include "attach/lane_change.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/moved_spend.h"
#include "error.h"
#include "kafka/client_error.h"
#include "nustream/base/error.h"
#include "nustream/users/placement.h"
#include "planted.h"
#include "users/new_epoch.h"

namespace nustream::attach {

UsersPartition LanesBefore::partition(LaneId lane) const {
  return {client_, {place_.stream, lane, place_.group, place_.topics}, setup_.config.kafka.transaction, cancelled_};
}

journal::KeyedRecord LanesBefore::record_of(const users::ClosingMark& closing) const {
  const users::StoreIdentity identity{place_.stream, place_.lane};
  return {closing_key(identity, before_.change), seal_closing(key_, identity, before_.change, closing)};
}

/// A line of no chain: it is under the seal.
std::string LanesBefore::line_of(const journal::LedgerEntry& spent) const {
  return journal::enclosed_line(spent, setup_.keys);
}

users::Division LanesBefore::asked_next() const {
  return {setup_.config.users->lanes, before_.change + 1, config::partitioner_of(setup_.config)};
}

users::ClosingMark LanesBefore::of_state(const journal::UsersOfState& state, const journal::Ledger& ledger) const {
  users::ClosingMark closing = without_state(ledger);
  closing.is_known = true;
  closing.mark = users::decode_topic_mark(state.mark);
  closing.column = state.column;
  return closing;
}

users::ClosingMark LanesBefore::without_state(const journal::Ledger& ledger) const {
  users::ClosingMark closing{ledger.epochs.empty(), {.division = before_}, asked_next(), {}, {}};
  if (!ledger.epochs.empty()) {
    closing.spent = line_of(engine::folded(ledger.epochs, setup_.config.privacy.neighbours()));
  }
  return closing;
}

users::ClosingMark LanesBefore::of_skipped() const {
  users::Division skipped = next();
  const journal::LedgerEntry spent = most_spent(all_closed());
  users::Division after = asked_next();
  after.change = skipped.change + 1;
  return {false,
          {.division = skipped},
          after,
          {},
          line_of(engine::without_counts(spent, setup_.config.privacy.neighbours()))};
}

std::optional<users::ClosingMark> LanesBefore::closing(LaneId lane) const {
  const UsersPartition of_lane = partition(lane);
  const auto sealed = of_lane.find(closing_key(of_lane.identity(), before_.change));
  if (!sealed) return std::nullopt;
  return open_closing(key_, of_lane.identity(), before_.change, *sealed);
}

/// Whether a lane's counts mean the same under the present settings. One that never began counted nobody.
bool LanesBefore::goes_on(const users::ClosingMark& closing) const {
  const config::Users& now = *setup_.config.users;
  if (!closing.is_known) return false;
  if (closing.spent.empty()) return true;
  return closing.column == now.column && before_.partitioner == config::partitioner_of(setup_.config) &&
         users::are_of_one_kind(journal::read_entry(closing.spent).user->limits, *now.limits);
}

/// From the table that the lane's mark vouches for. Failure(data) where its store does not give that.
void LanesBefore::take_entries(LaneId lane, const users::ClosingMark& closing, MovedUsers& moved) const {
  if (closing.mark.segment == 0 || closing.spent.empty()) return;
  const UsersPartition of_lane = partition(lane);
  users::Table table;
  users::TopicLog log(key_, of_lane.identity(), table, closing.mark.division);
  const std::uint64_t end = of_lane.end();
  log.load(closing.mark, end, of_lane.reader(end));
  const users::LaneChange change(before_.lanes, setup_.config.users->lanes);
  const auto mass = users::mass_change(journal::read_entry(closing.spent).user->limits, *setup_.config.users->limits);
  const auto take = [&](const users::Entry& entry) {
    const users::Standing& standing = entry.standing;
    if (!moved.carries_over) {
      if (standing.count == users::closed_count)
        moved.entries.push_back({entry.user, entry.number, users::closed({})});
    } else if (change.keeps(place_.lane, before_.partitioner, key_.masked(entry.user, entry.number))) {
      moved.entries.push_back(
          {entry.user, entry.number,
           mass ? users::carried_over(standing, mass->first, mass->second) : users::carried_over(standing)});
    }
  };
  for (unsigned part = 0; part < users::Table::parts; ++part) table.visit_part(part, take);
}

/// Of a stream of which no lane ever began.
journal::LedgerEntry LanesBefore::nothing_spent() const {
  journal::UserSpend user{*setup_.config.users->limits};
  if (user.limits.participation()) user.by_count.push_back(Rho{0});
  if (user.limits.mass()) user.of_mass = Rho{0};
  user.moved = journal::UserSpend::Moved{};
  return {place_.stream,
          place_.lane,
          EpochId{0},
          Position{0},
          Position{0},
          StepCount{0},
          Rho{0},
          Rho{0},
          setup_.digests.of(config::EpochStart::last_release),
          setup_.config.privacy.neighbours(),
          setup_.keys.is_private(),
          journal::Overlap::disjoint,
          std::move(user)};
}

/// Of any old lane.
journal::LedgerEntry LanesBefore::most_spent(const std::vector<users::ClosingMark>& marks) const {
  if (NUSTREAM_PLANTED("attached-users-spent-nothing-in-other-lanes")) return nothing_spent();
  const privacy::Neighbours asked = setup_.config.privacy.neighbours();
  std::optional<journal::LedgerEntry> most;
  for (const users::ClosingMark& mark : marks) {
    if (mark.spent.empty()) continue;
    const journal::LedgerEntry spent = journal::read_entry(mark.spent);
    most = most ? engine::dearest(*most, spent, asked) : spent;
  }
  return most ? *std::move(most) : nothing_spent();
}

std::vector<users::ClosingMark> LanesBefore::all_closed() const {
  std::vector<users::ClosingMark> marks;
  for (std::uint32_t lane = 0; lane < before_.lanes; ++lane) {
    auto found = closing(LaneId{lane});
    if (!found) {
      throw LaneHasToWait(
          fmt::format("lane {} waits for the closing mark of lane {}: every instance has to be started "
                      "with --new-epoch",
                      place_.name(), lane));
    }
    marks.push_back(*std::move(found));
  }
  return marks;
}

users::Division LanesBefore::next() const {
  const auto first = closing(LaneId{0});
  if (!first) {
    throw LaneHasToWait(
        fmt::format("lane {} waits for the closing mark of lane 0: every instance has to be started with --new-epoch",
                    place_.name()));
  }
  return first->next;
}

MovedUsers LanesBefore::read() const {
  users::LaneChange change(before_.lanes, setup_.config.users->lanes);
  const std::vector<users::ClosingMark> marks = all_closed();
  for (std::uint32_t lane = 0; lane < before_.lanes; ++lane) {
    NUSTREAM_REQUIRE(change.closed(LaneId{lane}), "an old lane's closing mark");
  }
  NUSTREAM_REQUIRE(change.of_new(place_.lane) == users::Turn::steps, "all old lanes are closed");
  const bool go_on = std::ranges::all_of(marks, [&](const users::ClosingMark& mark) { return goes_on(mark); });
  MovedUsers moved{go_on, {}, most_spent(marks)};
  moved.spent.user->moved->change = before_.change + 1;
  if (NUSTREAM_PLANTED("attached-users-begin-anew-in-another-lane")) return moved;
  try {
    for (std::uint32_t lane = 0; lane < before_.lanes; ++lane) take_entries(LaneId{lane}, marks[lane], moved);
  } catch (const kafka::KafkaFailure&) {
    throw;
  } catch (const Failure& failure) {
    if (failure.code() != Exit::data) throw;
    moved.carries_over = false;  // a store is lost: nobody knows what its users did
    moved.entries.clear();
  }
  const privacy::Neighbours asked = setup_.config.privacy.neighbours();
  if (!moved.carries_over) moved.spent = engine::without_counts(moved.spent, asked);
  return moved;
}

}  // namespace nustream::attach
