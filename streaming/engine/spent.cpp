// Adds up what a ledger's lines say was spent ("Totals" in docs/formats/ledger.md). Every line is first restated for
// the neighbours that are asked about. A line for which nothing follows is refused, because a spend that were left
// out would count as none.
#include "engine/spent.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "error.h"
#include "nustream/base/error.h"
#include "nustream/privacy/group.h"
#include "nustream/privacy/ledger.h"
#include "nustream/privacy/zcdp.h"
#include "publish/promise.h"

namespace nustream::engine {
namespace {

constexpr const char* begin_elsewhere =
    "begin in another folder (--set state.directory=…) or with topics of another name (--set stream.name=…)";

/// Refuses to add spends of records to spends of users: neither says anything about the other.
[[noreturn]] void refuse_another_unit(const journal::LedgerEntry& entry, bool of_users) {
  throw Failure(Exit::configuration,
                std::string("privacy.unit = ") + (of_users ? "\"user\"" : "\"record\"") + ": epoch " +
                    std::to_string(entry.epoch.value()) + " of the ledger promised something about " +
                    (of_users ? "records, and a spend of records cannot be converted into one of users"
                              : "users, and a spend of users cannot be converted into one of records") +
                    "; " + begin_elsewhere +
                    ", or keep the ledger's unit (--set privacy.unit=" + (of_users ? "record)" : "user)"));
}

/// Refuses to add spends within windows of different lengths. One window may overlap two of the other kind, and so a
/// promise about one kind says nothing about the other.
[[noreturn]] void refuse_other_windows(const journal::LedgerEntry& entry) {
  throw Failure(Exit::configuration,
                "users.period: epoch " + std::to_string(entry.epoch.value()) +
                    " of the ledger promised something about "
                    "a user's records" +
                    (publish::within_words(entry.user->limits).empty() ? " at any time"
                                                                       : publish::within_words(entry.user->limits)) +
                    ", which does not add up with another period; keep users.period and users.times, or " +
                    begin_elsewhere);
}

/// The total where the unit is the user. Epochs over different records may meet the same user. So ranges of records
/// do not matter, and all that matters is whether an epoch went on with the users' counts.
Rho spent_by_user(std::span<const journal::LedgerEntry> entries, privacy::Neighbours asked) {
  std::vector<users::Epoch> epochs;
  if (!entries.empty() && entries.back().user) require_same_windows(entries, entries.back().user->limits);
  for (const journal::LedgerEntry& entry : entries) {
    epochs.push_back(epoch_of(entry, asked));
  }
  return users::charged(epochs);
}

}  // namespace

users::Epoch epoch_of(const journal::LedgerEntry& entry, privacy::Neighbours asked) {
  if (!entry.neighbours.of_user || !entry.user) refuse_another_unit(entry, true);
  const auto restated = [&](Rho rho) { return *privacy::restated(rho, entry.neighbours, asked); };
  const journal::UserSpend& user = *entry.user;
  users::Epoch epoch{user.carries_over};
  // The line's own neighbours are those of a user, as are the ones asked for, so that only the adjacency can differ.
  for (const Rho rho : user.by_count) epoch.by_count.push_back(restated(rho));
  epoch.mass = user.limits.mass();
  if (user.of_mass) epoch.of_mass = restated(*user.of_mass);
  if (user.moved) epoch.before = restated(user.moved->before);
  // Earlier versions charged an epoch of which only a witness was left by the line's ρ alone. Every user is charged
  // that much then. Roundings differ between ρ and the numbers by user, and say nothing.
  const Rho rho = restated(entry.rho);
  constexpr double roundings = 1e-9;
  if (users::charged({&epoch, 1}).value() < rho.value() * (1 - roundings)) {
    epoch.carries_over = false;
    if (!epoch.by_count.empty()) epoch.by_count = {rho};
    if (user.of_mass) epoch.of_mass = rho;
  }
  return epoch;
}

void require_same_windows(std::span<const journal::LedgerEntry> entries, const users::Limits& limits) {
  for (const journal::LedgerEntry& entry : entries) {
    if (entry.user && entry.user->limits.windows() != limits.windows()) refuse_other_windows(entry);
  }
}

void require_same_framing(std::span<const journal::LedgerEntry> entries, bool is_trusted) {
  for (const journal::LedgerEntry& entry : entries) {
    if (entry.trusts_framing == is_trusted) continue;
    throw Failure(
        Exit::configuration,
        fmt::format("stream.framing: epoch {} of the ledger was over records that end {}, so that a record is "
                    "another one now, and what it spent cannot be told; begin in another state.directory",
                    entry.epoch.value(),
                    entry.trusts_framing ? "where their quotes are closed (\"trusted\")"
                                         : "at each line's end (\"newline\")"));
  }
}

Rho total_spent(std::span<const journal::LedgerEntry> entries, privacy::Neighbours asked) {
  if (asked.of_user) return spent_by_user(entries, asked);
  std::vector<privacy::EpochSpend> spends;
  for (const journal::LedgerEntry& entry : entries) {
    if (entry.neighbours.of_user) refuse_another_unit(entry, false);
    const std::optional<Rho> rho = privacy::restated(entry.rho, entry.neighbours, asked);
    if (!rho) {
      throw Failure(Exit::configuration,
                    "privacy.protects = \"record\": epoch " + std::to_string(entry.epoch.value()) +
                        " of the ledger protected targets alone, so that nothing is known of what whole records have "
                        "spent; begin in another state.directory or with other topics, or protect targets again");
    }
    // Positions and overlap go with the spend: privacy::total() needs them to tell which epochs may have read the
    // same record.
    spends.push_back({entry.lane, entry.epoch, entry.from, entry.to, entry.steps, *rho, entry.settings_digest,
                      entry.overlap == journal::Overlap::disjoint      ? privacy::Disjointness::disjoint
                      : entry.overlap == journal::Overlap::overlapping ? privacy::Disjointness::overlapping
                                                                       : privacy::Disjointness::unknown});
  }
  return privacy::total(spends);
}

// The search gallops (1, 2, 4, ... steps) to the first power of two that costs too much, then bisects. Each call of
// `total` may be expensive; their number grows only with the logarithm of the answer.
StepCount furthest_within(std::optional<StepCount> horizon, Rho budget, const std::function<Rho(StepCount)>& total) {
  const std::uint64_t furthest = horizon ? horizon->value() : std::numeric_limits<std::uint64_t>::max() / 2;
  const auto fits = [&](std::uint64_t steps) { return total(StepCount{steps}) <= budget; };
  std::uint64_t within = 0;
  std::uint64_t beyond = 1;
  while (beyond < furthest && fits(beyond)) {
    within = beyond;
    beyond *= 2;
  }
  if (beyond >= furthest) {
    if (fits(furthest)) return StepCount{furthest};
    beyond = furthest;
  }
  // Here `within` steps fit (an epoch may always take 0 steps), and `beyond` steps do not.
  while (beyond - within > 1) {
    const std::uint64_t middle = within + (beyond - within) / 2;
    (fits(middle) ? within : beyond) = middle;
  }
  return StepCount{within};
}

std::vector<publish::GroupSpend> group_spends(const config::Config& config, const config::Mechanism& mechanism) {
  if (config.descent.users) return {};  // the promise is about all of a person's records already
  // Several records of a person in one step move its sum together. The tighter bound needs them in different steps,
  // which is certain only where a step takes one record.
  if (config.descent.minibatch > 1) return group_bounds(mechanism.spend.limit(), config.privacy.delta);
  std::vector<publish::GroupSpend> groups;
  for (const std::uint64_t records : publish::group_sizes) {
    groups.push_back(
        publish::group_spend(records, privacy::group_limit(mechanism.spend, records), config.privacy.delta));
  }
  return groups;
}

std::vector<publish::GroupSpend> group_bounds(Rho rho, Delta delta) {
  std::vector<publish::GroupSpend> groups;
  for (const std::uint64_t records : publish::group_sizes) {
    groups.push_back(publish::group_spend(records, privacy::group_bound(rho, records), delta));
  }
  return groups;
}

namespace {

/// Returns `line` with the spends of `epoch`. The limits stay those of the last epoch, in whose units counts and
/// masses are.
journal::LedgerEntry saying(journal::LedgerEntry line, const users::Epoch& epoch, privacy::Neighbours asked) {
  journal::UserSpend& user = *line.user;
  const std::uint32_t change = user.moved ? user.moved->change : 0;
  // A line in the place of others begins a group of its own: what came before it is in `before`.
  user.carries_over = false;
  user.by_count = epoch.by_count;
  if (epoch.mass) user.of_mass = epoch.of_mass;
  user.moved = {change, epoch.before};
  line.rho = line.rho_limit = users::charged({&epoch, 1});  // no further step of these epochs will be taken
  line.neighbours = asked;
  // `taken` and `run` belong to lines that reserve steps, and nothing more is reserved in these epochs.
  line.taken.reset();
  line.run.clear();
  return line;
}

}  // namespace

journal::LedgerEntry folded(std::span<const journal::LedgerEntry> lines, privacy::Neighbours asked) {
  NUSTREAM_REQUIRE(!lines.empty(), "a lane that has spent something");
  std::vector<users::Epoch> epochs;
  for (const journal::LedgerEntry& line : lines) epochs.push_back(epoch_of(line, asked));
  return saying(lines.back(), users::folded(epochs), asked);
}

journal::LedgerEntry dearest(const journal::LedgerEntry& one, const journal::LedgerEntry& other,
                             privacy::Neighbours asked) {
  journal::LedgerEntry line = one;
  line.steps = std::max(one.steps, other.steps);
  return saying(std::move(line), users::dearest(epoch_of(one, asked), epoch_of(other, asked)), asked);
}

journal::LedgerEntry without_counts(const journal::LedgerEntry& line, privacy::Neighbours asked) {
  return saying(line, users::without_counts(epoch_of(line, asked)), asked);
}

std::optional<Rho> limit_of(std::span<const journal::LedgerEntry> entries, EpochId epoch) {
  const auto line = std::ranges::find(entries, epoch, &journal::LedgerEntry::epoch);
  if (line == entries.end()) return std::nullopt;
  return line->rho_limit;
}

std::uint32_t changes_of_lanes(const journal::Ledger& ledger) {
  std::uint32_t changes = 0;
  for (const journal::LedgerEntry& line : ledger.epochs) {
    if (line.user && line.user->moved) changes = std::max(changes, line.user->moved->change);
  }
  return changes;
}

}  // namespace nustream::engine
