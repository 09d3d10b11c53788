// Closing marks: what an old lane leaves, and what a new lane makes of the marks of all old ones
// (docs/formats/users.md). Two things must never happen: that a user counts in two lanes at once, and that a spend is
// left out. Where counts cannot be carried over, they are given up, and the largest spend that any user can have is
// charged instead.
#include "attach/lane_change.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "attach/rebuild_users.h"
#include "engine/spent.h"
#include "error.h"
#include "nustream/base/error.h"
#include "nustream/users/placement.h"
#include "users/going_on.h"

namespace nustream::attach {

UsersPartition LanesBefore::partition(LaneId lane) const {
  return {client_, {place_.stream, lane, place_.group, place_.topics}, setup_.config.kafka.transaction, cancelled_};
}

journal::KeyedRecord LanesBefore::record_of(const users::ClosingMark& closing) const {
  const users::StoreIdentity identity{place_.stream, place_.lane};
  // The mark is written under the number of the division that ends: it closes the lane for the next change.
  return {closing_key(identity, before_.change), seal_closing(key_, identity, before_.change, closing)};
}

/// Writes the entry as a ledger line that belongs to no chain: the line stands within a sealed mark, which protects
/// it.
std::string LanesBefore::line_of(const journal::LedgerEntry& spent) const {
  return journal::enclosed_line(spent, setup_.keys);
}

users::Division LanesBefore::asked_next() const {
  return {setup_.config.users->lanes, before_.change + 1, config::partitioner_of(setup_.config)};
}

users::ClosingMark LanesBefore::of_state(const journal::UsersOfState& state, const journal::Ledger& ledger,
                                         bool has_only_measured) const {
  users::ClosingMark closing = without_state(ledger);
  if (has_only_measured) {
    const privacy::Neighbours asked = setup_.config.privacy.neighbours();
    closing.spent = line_of(engine::without_counts(engine::folded(ledger.epochs, asked), asked));
  }
  closing.is_known = true;
  closing.mark = users::decode_topic_mark(state.mark);
  closing.identity = state.identity;
  return closing;
}

users::ClosingMark LanesBefore::without_state(const journal::Ledger& ledger) const {
  // Without a ledger nothing was spent, and the mark says so by an empty spend.
  users::ClosingMark closing{ledger.epochs.empty(), false, {.division = before_}, asked_next(), {}, {}};
  if (!ledger.epochs.empty()) {
    closing.spent = line_of(engine::folded(ledger.epochs, setup_.config.privacy.neighbours()));
  }
  return closing;
}

users::ClosingMark LanesBefore::of_lost_key(const journal::LedgerEntry& spent) const {
  return {false,
          true,  // the mark may say that it names all closed users: under another key nobody is known any more
          {.division = before_},
          asked_next(),
          {},
          line_of(engine::without_counts(spent, setup_.config.privacy.neighbours()))};
}

/// The mark has to fit one record of the topic. So it names at most half as many closed users as a record of entries
/// holds, and `tells_closed` says whether these are all of them.
users::ClosingMark LanesBefore::of_skipped() const {
  const std::vector<users::ClosingMark> marks = all_closed();
  users::ClosingMark skipped{false, false, {.division = next()}, asked_next(), {}, {}};
  // The change after the one that is skipped.
  skipped.next.change = skipped.mark.division.change + 1;
  skipped.spent = line_of(engine::without_counts(most_spent(marks), setup_.config.privacy.neighbours()));
  ClosedUsers closed = closed_in(marks);
  const std::size_t most = setup_.user_entries_max / 2;
  skipped.tells_closed = closed.lost.empty() && closed.entries.size() <= most;
  if (closed.entries.size() > most) closed.entries.resize(most);
  skipped.closed = std::move(closed.entries);
  return skipped;
}

std::optional<users::ClosingMark> LanesBefore::closing(LaneId lane) const {
  const UsersPartition of_lane = partition(lane);
  const auto sealed = of_lane.find(closing_key(of_lane.identity(), before_.change));
  if (!sealed) return std::nullopt;
  return open_closing(key_, of_lane.identity(), before_.change, *sealed);
}

/// Whether a lane's counts mean the same under the present settings. They always do for a lane that never spent
/// anything, because it counted nobody.
bool LanesBefore::goes_on(const users::ClosingMark& closing) const {
  const config::Users& now = *setup_.config.users;
  // A window of time is measured by the lane's own clock. In another lane, whose clock differs, a user could begin
  // anew while the old window still holds.
  if (!closing.is_known || now.limits->windows()) return false;
  if (closing.spent.empty()) return true;
  // Then a count there means what it means here.
  return closing.identity == now.identity && before_.partitioner == config::partitioner_of(setup_.config) &&
         users::are_of_one_kind(journal::read_entry(closing.spent).user->limits, *now.limits);
}

/// Visits the entries of the table of users that the lane's mark vouches for. Throws Failure(data) where the lane's
/// store does not give that table.
void LanesBefore::visit_entries(std::uint32_t lane, const users::ClosingMark& closing, const Take& take) const {
  // Nothing was ever stored, so that there is no table.
  if (closing.mark.segment == 0) return;
  const auto table = table_of_closed(key_, closing.mark, partition(LaneId{lane}), setup_.config.users->on_disk);
  for (unsigned part = 0; part < users::Standings::parts; ++part) table->visit_part(part, take);
}

namespace {

/// One entry of each user. After a change of lanes every lane knows all users who were closed, so that the lanes tell
/// of the same ones.
std::vector<users::Entry> each_once(std::vector<users::Entry> entries) {
  std::ranges::stable_sort(entries, {}, &users::Entry::user);
  const auto same = std::ranges::unique(entries, {}, &users::Entry::user);
  entries.erase(same.begin(), same.end());
  return entries;
}

}  // namespace

/// The entries of the users who are this lane's own from now on, with what they have contributed. An old lane that
/// spent nothing holds entries of closed users only.
std::vector<users::Entry> LanesBefore::own_entries(const std::vector<users::ClosingMark>& marks) const {
  const users::LaneChange change(before_.lanes, setup_.config.users->lanes);
  std::vector<users::Entry> own;
  std::vector<users::Entry> closed;
  for (std::uint32_t lane = 0; lane < before_.lanes; ++lane) {
    // A lane that spent nothing has no limits to convert masses from.
    const std::string& spent = marks[lane].spent;
    const auto mass = spent.empty()
                          ? std::nullopt
                          : users::mass_change(journal::read_entry(spent).user->limits, *setup_.config.users->limits);
    visit_entries(lane, marks[lane], [&](const users::Entry& entry) {
      // Every new lane reads the marks of all old lanes and keeps its own users; no user is sent. A closed user stays
      // closed in all of them: its number may be that of an earlier partitioner, and says nothing about its lane.
      const bool is_closed = entry.standing.count == users::closed_count;
      if (!is_closed && !change.keeps(place_.lane, before_.partitioner, key_.masked(entry.user, entry.number)))
        return;
      (is_closed ? closed : own)
          .push_back({entry.user, entry.number,
                      mass ? users::carried_over(entry.standing, mass->first, mass->second)
                           : users::carried_over(entry.standing)});
    });
  }
  closed = each_once(std::move(closed));
  // They come last, since of two entries of one user the last one counts.
  own.insert(own.end(), closed.begin(), closed.end());
  return own;
}

/// Collects the closed users of all old lanes. Each lane is read by itself: where the store of one is lost, the
/// closed users of the others are still found, and the lost lane is named.
LanesBefore::ClosedUsers LanesBefore::closed_in(const std::vector<users::ClosingMark>& marks) const {
  ClosedUsers closed;
  for (std::uint32_t lane = 0; lane < before_.lanes; ++lane) {
    const users::ClosingMark& mark = marks[lane];
    std::ranges::copy(mark.closed, std::back_inserter(closed.entries));
    const auto whole = unless_lost([&] {
      visit_entries(lane, mark, [&](const users::Entry& entry) {
        if (entry.standing.count != users::closed_count) return;
        // The entry says that the user is closed, and nothing of what it had contributed.
        closed.entries.push_back({entry.user, entry.number, users::closed({})});
      });
      return true;
    });
    // A mark without a table (`is_known` is false) may still name its closed users (`tells_closed`).
    if (!whole || !(mark.is_known || mark.tells_closed)) closed.lost.push_back(lane);
  }
  closed.entries = each_once(std::move(closed.entries));
  return closed;
}

/// The spend of a stream none of whose lanes ever began.
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

/// The largest spend of all old lanes: a user may have been in any of them.
journal::LedgerEntry LanesBefore::most_spent(const std::vector<users::ClosingMark>& marks) const {
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
    // Until all old lanes are closed, a user may still count in one of them.
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
  MovedUsers moved{std::ranges::all_of(marks, [&](const users::ClosingMark& mark) { return goes_on(mark); }),
                   {},
                   most_spent(marks)};
  moved.spent.user->moved->change = before_.change + 1;
  if (moved.carries_over) {
    auto own = unless_lost([&] { return own_entries(marks); });
    moved.carries_over = own.has_value();  // false where a store is lost: nobody knows what its users contributed
    if (own) moved.entries = *std::move(own);
  }
  if (moved.carries_over) return moved;
  // Counts cannot be carried over. So everybody counts anew, except the closed users that can be found.
  moved.spent = engine::without_counts(moved.spent, setup_.config.privacy.neighbours());
  ClosedUsers closed = closed_in(marks);
  moved.entries = std::move(closed.entries);
  moved.lost = fmt::format("{}", fmt::join(closed.lost, ", "));
  return moved;
}

}  // namespace nustream::attach
