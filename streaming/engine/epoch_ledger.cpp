// Decides when a ledger line is due and which steps it pays for ("What a line reserves" in docs/formats/ledger.md). A
// line is always written ahead of the steps that it pays for: there must be no release that no line pays for, also
// where the state is lost.
#include "engine/epoch_ledger.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "engine/spent.h"
#include "nustream/users/sensitivity.h"
#include "secrets/hex.h"
#include "secrets/random.h"

namespace nustream::engine {
namespace {

/// The number of steps at which the next line is due. A line with LedgerEntry::taken says how many steps were taken
/// when it was written, and reserves its steps: it pays for all of them. So the next line is due one step later. Even
/// where exactly its steps were taken, such a line is not the last word, because its range of records ends at its
/// commit. After any other line the next line is due with the next step.
StepCount behind(const journal::LedgerEntry& line) {
  return line.taken ? StepCount{line.steps.value() + 1} : line.steps;
}

/// A line holds ρ for each count of records from 1 to k, if k is at most this. For a larger k it holds ρ of k alone.
/// The epochs of a user then add up as if the user had used all of k in each.
constexpr std::uint64_t counts_in_a_line_max = 64;

/// What a user within `limits` spends in all stages of the mechanism together.
privacy::Spend spend_of(const config::Mechanism& mechanism, const users::Limits& limits) {
  const auto of = [&](const config::CalibratedStage& stage) {
    return users::spend(stage.correlation, limits, stage.sigma);
  };
  privacy::Spend all = of(mechanism.stages.front());
  for (std::size_t i = 1; i < mechanism.stages.size(); ++i) all = all.beside(of(mechanism.stages[i]));
  return all;
}

/// Raises what a user at its limits is charged to the line's ρ. Where a mechanism's stages are charged together, as
/// those of running sums are, ρ is rounded up further than the sum over stages.
journal::UserSpend no_less_than(Rho spent, journal::UserSpend told) {
  if (!told.by_count.empty()) told.by_count.back() = std::max(told.by_count.back(), spent);
  if (told.of_mass) told.of_mass = std::max(*told.of_mass, spent);
  return told;
}

}  // namespace

std::string new_run() {
  std::array<std::uint8_t, 16> bits{};
  secrets::fill_random(bits);
  return secrets::to_hex(bits);
}

/// The spends are made once and kept: every line needs all of them, and each one remembers its last result.
EpochLedger::UserSpends::UserSpends(const config::Mechanism& mechanism, const users::Limits& of_one)
    : limits(of_one) {
  if (const auto& participation = limits.participation()) {
    const std::uint64_t times = participation->times();
    // A count of 0 costs nothing, and after() adds it where a line has room for all counts.
    for (std::uint64_t count = times <= counts_in_a_line_max ? 1 : times; count <= times; ++count) {
      by_count.push_back(spend_of(mechanism, {{{count, participation->separation()}}, {}}));
    }
  }
  if (limits.mass()) of_mass = spend_of(mechanism, {{}, limits.mass()});
}

/// What a line says about users after `steps` steps, or without `steps` at the end of the longest epoch.
journal::UserSpend EpochLedger::UserSpends::after(std::optional<StepCount> steps, bool carries_over) const {
  const auto of = [&](const privacy::Spend& spend) { return steps ? spend.after(*steps) : spend.limit(); };
  journal::UserSpend told{limits, carries_over, {}, std::nullopt};
  if (by_count.size() > 1 || (limits.participation() && limits.participation()->times() == 1)) {
    told.by_count.push_back(Rho{0});  // for a user with no record
  }
  for (const privacy::Spend& spend : by_count) told.by_count.push_back(of(spend));
  if (of_mass) told.of_mass = of(*of_mass);
  return told;
}

EpochLedger::EpochLedger(EpochIdentity identity, const config::Mechanism& mechanism, journal::Ledger ledger)
    : identity_(std::move(identity)), mechanism_(mechanism), ledger_(std::move(ledger)) {
  if (ledger_.reserving && ledger_.reserving->epoch == identity_.epoch) told_ = behind(*ledger_.reserving);
  if (identity_.limits) of_users_.emplace(mechanism, *identity_.limits);
  // Called for what it refuses: lines that do not add up with this epoch's promise have to end the run before a step
  // is taken, and not with the first commit.
  static_cast<void>(total_spent(ledger_.epochs, identity_.neighbours));
  require_same_framing(ledger_.epochs, identity_.trusts_framing);
  if (identity_.limits) require_same_windows(ledger_.epochs, *identity_.limits);
}

void EpochLedger::owe(const journal::LedgerEntry& entry) {
  owed_.push_back(entry);
  // In the place where the ledger's file will have it, since the order of epochs says whose counts carried over.
  ledger_.keep(entry);
  static_cast<void>(total_spent(ledger_.epochs, identity_.neighbours));
}

journal::LedgerEntry EpochLedger::entry(StepCount steps, Position to) const {
  return line(mechanism_.spend.after(steps), mechanism_.spend.limit(), steps, to);
}

journal::LedgerEntry EpochLedger::line(Rho spent, Rho limit, StepCount steps, Position to) const {
  return {
      identity_.stream,
      identity_.lane,
      identity_.epoch,
      identity_.start,
      to,
      steps,
      spent,
      limit,
      identity_.digest,
      identity_.neighbours,
      identity_.is_private,
      identity_.overlap,
      of_users_ ? std::optional(no_less_than(spent, of_users_->after(steps, identity_.carries_over))) : std::nullopt,
      {},
      {},
      identity_.trusts_framing};
}

std::vector<journal::LedgerEntry> EpochLedger::others() const {
  std::vector<journal::LedgerEntry> entries;
  for (const journal::LedgerEntry& known : ledger_.epochs) {
    if (known.lane != identity_.lane || known.epoch != identity_.epoch) entries.push_back(known);
  }
  return entries;
}

std::vector<journal::LedgerEntry> EpochLedger::with_own(StepCount steps, Position to) const {
  std::vector<journal::LedgerEntry> entries = others();
  entries.push_back(entry(steps, to));
  return entries;
}

Rho EpochLedger::total(Rho spent, StepCount steps, Position to) const {
  std::vector<journal::LedgerEntry> entries = others();
  // A single epoch costs what it spent. How that is spread over counts matters only where there are other epochs.
  if (of_users_ && entries.empty()) return spent;
  if (steps.value() > 0) entries.push_back(line(spent, spent, steps, to));
  return total_spent(entries, identity_.neighbours);
}

Rho EpochLedger::total(StepCount steps, Position to) const {
  return total(mechanism_.spend.after(steps), steps, to);
}

/// The total where this epoch goes as far as its noise lets it.
Rho EpochLedger::total_in_the_limit(Position to) const {
  std::vector<journal::LedgerEntry> entries = others();
  // One step stands for any number of them: an epoch that takes steps counts with the ρ that it is given here.
  entries.push_back(line(mechanism_.spend.limit(), mechanism_.spend.limit(), StepCount{1}, to));
  if (of_users_) entries.back().user = of_users_->after({}, identity_.carries_over);
  return total_spent(entries, identity_.neighbours);
}

std::optional<StepCount> EpochLedger::limit(const std::optional<Rho>& budget, Position to) const {
  const std::optional<StepCount> horizon = mechanism_.horizon();
  // Where even the whole epoch fits, no number of steps exceeds the budget, and the search below would have no end.
  if (!budget || total_in_the_limit(to) <= *budget) return horizon;
  return furthest_within(horizon, *budget, [&](StepCount steps) { return total(steps, to); });
}

/// Whether a line is due with this commit: with the epoch's first commit, with the first step after the lane was
/// opened (the line says from which state the run goes on), when the steps of the last line are used up, and when a
/// run closes with reserved steps that were not taken.
bool EpochLedger::is_due(const LedgerCommit& commit) const {
  if (!commit.before) return true;
  const bool stepped = commit.steps > *commit.before;
  if (stepped && (!has_written_ || !told_ || commit.steps >= *told_)) return true;
  return commit.closes && reserves_beyond(commit.steps);
}

/// Whether more steps than these cost more. Where the unit is the user, the cost of each count is compared too,
/// because later epochs add those.
bool EpochLedger::grows_behind(StepCount steps) const {
  if (mechanism_.spend.after(steps) < mechanism_.spend.limit()) return true;
  if (!of_users_) return false;
  const journal::UserSpend now = of_users_->after(steps, false);
  const journal::UserSpend in_the_end = of_users_->after({}, false);
  return now.by_count != in_the_end.by_count || now.of_mass != in_the_end.of_mass;
}

/// The line that is due with this commit. A run that closes says what was taken. Any other line reserves the steps
/// that follow, and says with `taken` how many the state before it had.
journal::LedgerEntry EpochLedger::due_line(const LedgerCommit& commit) const {
  const bool resumes = commit.before && !has_written_ && commit.steps > *commit.before;
  if (commit.closes && !resumes) return entry(commit.steps, commit.to);
  const StepCount reserved =
      reserved_steps(commit.steps, limit(identity_.budget, commit.to), grows_behind(commit.steps));
  journal::LedgerEntry line = entry(reserved, commit.to);
  line.steps = reserved;
  if (commit.steps.value() == 0) return line;
  // `taken` is set even where no further step is left to reserve. A closing line then follows, and only that line
  // names what this commit releases.
  line.taken = commit.before.value_or(StepCount{0});
  if (!has_written_ && identity_.is_private) line.run = new_run();
  return line;
}

std::string EpochLedger::append_lines(const LedgerCommit& commit, const secrets::Keyring& keys,
                                      const journal::Hash& released) {
  if (!is_due(commit)) return {};
  std::string lines;
  // Each line names the one before it, so that the lines are made one after the other, the owed ones first.
  const auto append = [&](const journal::LedgerEntry& line) {
    const std::string text = journal::ledger_line(line, ledger_.head, keys, released);
    ledger_.head = journal::hash_of(text);
    lines += text;
  };
  for (const journal::LedgerEntry& entry : owed_) append(entry);
  owed_.clear();
  const journal::LedgerEntry own = due_line(commit);
  append(own);
  told_ = behind(own);
  has_written_ = true;
  return lines;
}

StepCount reserved_steps(StepCount taken, std::optional<StepCount> furthest, bool grows) {
  const std::uint64_t steps = taken.value();
  // Before its first step an epoch reserves nothing. So an epoch that is never used costs nothing.
  if (steps == 0) return taken;
  if (!grows && furthest) return std::max(taken, *furthest);
  // bit_ceil() is undefined where the power of two does not fit the type. A stream never comes that far.
  constexpr std::uint64_t last = std::numeric_limits<std::uint64_t>::max() / 2;
  std::uint64_t reserved = steps < last ? std::bit_ceil(steps + 1) : steps;
  if (grows) reserved = std::min(reserved, steps + reserved_ahead_max);
  if (furthest) reserved = std::min(reserved, furthest->value());
  // A budget that was lowered since may end before what is taken. What is taken has to be paid for all the same.
  return StepCount{std::max(reserved, steps)};
}

}  // namespace nustream::engine
