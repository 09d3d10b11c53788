#include "attach/lane_change.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "error.h"
#include "kafka/client_error.h"
#include "nustream/base/error.h"
#include "nustream/users/placement.h"
#include "planted.h"
#include "users/new_epoch.h"

namespace nustream::attach {
namespace {

/// `other` joined to `into` entry by entry; false where the two are of different limits.
template <class Join>
bool join(const journal::UserSpend& other, journal::UserSpend& into, const Join& join_two) {
  if (!(other.limits == into.limits) || other.by_count.size() != into.by_count.size()) return false;
  for (std::size_t i = 0; i < into.by_count.size(); ++i) {
    into.by_count[i] = join_two(into.by_count[i], other.by_count[i]);
  }
  if (into.of_mass && other.of_mass) into.of_mass = join_two(*into.of_mass, *other.of_mass);
  return into.of_mass.has_value() == other.of_mass.has_value();
}

/// Rounded up.
Rho added(Rho a, Rho b) {
  return Rho{std::nextafter(a.value() + b.value(), std::numeric_limits<double>::infinity())};
}

/// What users of the lane spent in all of its epochs, as one of them: never less. Nothing where they cannot be added.
std::optional<journal::LedgerEntry> spent_in(const journal::Ledger& ledger) {
  if (ledger.epochs.empty()) return std::nullopt;
  journal::LedgerEntry sum = ledger.epochs.back();
  if (!sum.user) return std::nullopt;
  for (std::size_t i = 0; i + 1 < ledger.epochs.size(); ++i) {
    const journal::LedgerEntry& earlier = ledger.epochs[i];
    if (!earlier.user || !join(*earlier.user, *sum.user, added)) return std::nullopt;
    sum.rho = added(sum.rho, earlier.rho);
    sum.rho_limit = added(sum.rho_limit, earlier.rho_limit);
  }
  sum.user->carries_over = false;
  return sum;
}

/// The greater of both, whatever a user did; false where they are of different limits.
bool raise_to(const journal::LedgerEntry& other, journal::LedgerEntry& most) {
  const auto greater = [](Rho a, Rho b) { return std::max(a, b); };
  if (!join(*other.user, *most.user, greater)) return false;
  most.rho = greater(most.rho, other.rho);
  most.rho_limit = greater(most.rho_limit, other.rho_limit);
  most.steps = std::max(most.steps, other.steps);
  return true;
}

}  // namespace

users::ClosingMark closing_of(const journal::UsersOfState& state, const journal::Ledger& ledger,
                              const secrets::Keyring& keys) {
  const std::optional<journal::LedgerEntry> spent = spent_in(ledger);
  // A line of no chain: it is under the seal.
  return {spent.has_value(), users::decode_topic_mark(state.mark), state.column,
          spent ? journal::ledger_line(*spent, journal::empty_ledger_head, keys) : std::string()};
}

UsersPartition LanesBefore::partition(LaneId lane) const {
  return {setup_, client_, {place_.stream, lane, place_.group, place_.topics}, cancelled_};
}

journal::KeyedRecord LanesBefore::record_of(const users::ClosingMark& closing) const {
  const users::StoreIdentity identity{place_.stream, place_.lane};
  return {closing_key(identity, before_.change), seal_closing(key_, identity, before_.change, closing)};
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

/// Of any old lane; nothing where one of them does not know it, or their limits differ.
std::optional<journal::LedgerEntry> LanesBefore::most_spent(const std::vector<users::ClosingMark>& marks) const {
  std::optional<journal::LedgerEntry> most;
  for (const users::ClosingMark& mark : marks) {
    if (!mark.is_known) return std::nullopt;
    if (mark.spent.empty()) continue;
    const journal::LedgerEntry spent = journal::read_entry(mark.spent);
    if (!most) most = spent;
    if (!raise_to(spent, *most)) return std::nullopt;
  }
  return most;
}

MovedUsers LanesBefore::read() const {
  users::LaneChange change(before_.lanes, setup_.config.users->lanes);
  std::vector<users::ClosingMark> marks;
  MovedUsers moved{true};
  for (std::uint32_t lane = 0; lane < before_.lanes; ++lane) {
    auto found = closing(LaneId{lane});
    if (!found) {
      throw LaneHasToWait(
          fmt::format("lane {} waits for the closing mark of lane {}: every instance has to be started "
                      "with --new-epoch",
                      place_.name(), lane));
    }
    NUSTREAM_REQUIRE(change.closed(LaneId{lane}), "an old lane's closing mark");
    moved.carries_over = moved.carries_over && goes_on(*found);
    marks.push_back(*std::move(found));
  }
  NUSTREAM_REQUIRE(change.of_new(place_.lane) == users::Turn::steps, "all old lanes are closed");
  moved.spent = most_spent(marks);
  moved.carries_over = moved.carries_over && moved.spent.has_value();
  if (NUSTREAM_PLANTED("attached-users-begin-anew-in-another-lane")) return moved;
  try {
    for (std::uint32_t lane = 0; lane < before_.lanes; ++lane) take_entries(LaneId{lane}, marks[lane], moved);
  } catch (const kafka::KafkaFailure&) {
    throw;
  } catch (const Failure& failure) {
    if (failure.code() != Exit::data) throw;
    return {false, {}, std::move(moved.spent)};  // a store is lost: nobody knows what its users did
  }
  return moved;
}

}  // namespace nustream::attach
