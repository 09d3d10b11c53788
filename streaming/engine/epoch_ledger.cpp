#include "engine/epoch_ledger.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/spent.h"
#include "nustream/users/sensitivity.h"

namespace nustream::engine {

namespace {

/// Lines hold ρ of so many counts at most: of a larger k they hold its own alone, and epochs add up.
constexpr std::uint64_t counts_in_a_line_max = 64;

/// Of all stages together.
privacy::Spend spend_of(const config::Mechanism& mechanism, const users::Limits& limits) {
  const auto of = [&](const config::StageNoise& stage) {
    return users::spend(stage.correlation, limits, stage.sigma);
  };
  privacy::Spend all = of(mechanism.stages.front());
  for (std::size_t i = 1; i < mechanism.stages.size(); ++i) all = all.beside(of(mechanism.stages[i]));
  return all;
}

}  // namespace

/// Made once: a line at every commit asks all of them, and each remembers what it computed last.
EpochLedger::UserSpends::UserSpends(const config::Mechanism& mechanism, const users::Limits& of_one)
    : limits(of_one) {
  if (const auto& participation = limits.participation()) {
    const std::uint64_t times = participation->times();
    for (std::uint64_t count = times <= counts_in_a_line_max ? 1 : times; count <= times; ++count) {
      by_count.push_back(spend_of(mechanism, {{{count, participation->separation()}}, {}}));
    }
  }
  if (limits.mass()) of_mass = spend_of(mechanism, {{}, limits.mass()});
}

/// Of a line after `steps` steps, or over all that there may be where none are given.
journal::UserSpend EpochLedger::UserSpends::after(std::optional<StepCount> steps, bool carries_over) const {
  const auto of = [&](const privacy::Spend& spend) { return steps ? spend.after(*steps) : spend.limit(); };
  journal::UserSpend told{limits, carries_over, {}, std::nullopt};
  if (by_count.size() > 1 || (limits.participation() && limits.participation()->times() == 1)) {
    told.by_count.push_back(Rho{0});  // of a user that did nothing
  }
  for (const privacy::Spend& spend : by_count) told.by_count.push_back(of(spend));
  if (of_mass) told.of_mass = of(*of_mass);
  return told;
}

EpochLedger::EpochLedger(EpochIdentity identity, const config::Mechanism& mechanism, journal::Ledger ledger)
    : identity_(std::move(identity)), mechanism_(mechanism), ledger_(std::move(ledger)) {
  if (identity_.limits) of_users_.emplace(mechanism, *identity_.limits);
  static_cast<void>(total_spent(ledger_.epochs, identity_.neighbours));
  if (identity_.limits) require_same_windows(ledger_.epochs, *identity_.limits);
}

void EpochLedger::owe(const journal::LedgerEntry& entry) {
  owed_.push_back(entry);
  const bool for_all = entry.user && entry.user->moved;
  std::erase_if(ledger_.epochs,
                [&](const journal::LedgerEntry& known) { return for_all || known.epoch == entry.epoch; });
  ledger_.epochs.push_back(entry);
  static_cast<void>(total_spent(ledger_.epochs, identity_.neighbours));
}

journal::LedgerEntry EpochLedger::entry(StepCount steps, Position to) const {
  return line(mechanism_.spend.after(steps), mechanism_.spend.limit(), steps, to);
}

journal::LedgerEntry EpochLedger::line(Rho spent, Rho limit, StepCount steps, Position to) const {
  return {identity_.stream,
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
          of_users_ ? std::optional(of_users_->after(steps, identity_.carries_over)) : std::nullopt};
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
  // One epoch of users costs what it spent: how that is spread over counts is asked where there are others.
  if (of_users_ && entries.empty()) return spent;
  if (steps.value() > 0) entries.push_back(line(spent, spent, steps, to));
  return total_spent(entries, identity_.neighbours);
}

Rho EpochLedger::total(StepCount steps, Position to) const {
  return total(mechanism_.spend.after(steps), steps, to);
}

/// Of a new epoch that goes as far as it ever may.
Rho EpochLedger::total_in_the_limit(Position to) const {
  std::vector<journal::LedgerEntry> entries = others();
  entries.push_back(line(mechanism_.spend.limit(), mechanism_.spend.limit(), StepCount{1}, to));
  if (of_users_) entries.back().user = of_users_->after({}, identity_.carries_over);
  return total_spent(entries, identity_.neighbours);
}

std::optional<StepCount> EpochLedger::limit(const std::optional<Rho>& budget, Position to) const {
  const std::optional<StepCount> horizon = mechanism_.horizon();
  if (!budget || total_in_the_limit(to) <= *budget) return horizon;
  return furthest_within(horizon, *budget, [&](StepCount steps) { return total(steps, to); });
}

std::string EpochLedger::append_lines(StepCount steps, Position to, const secrets::Keyring& keys,
                                      const journal::Hash& released) {
  std::string lines;
  const auto append = [&](const journal::LedgerEntry& line) {
    const std::string text = journal::ledger_line(line, ledger_.head, keys, released);
    ledger_.head = journal::hash_of(text);
    lines += text;
  };
  for (const journal::LedgerEntry& entry : owed_) append(entry);
  owed_.clear();
  append(entry(steps, to));
  return lines;
}

}  // namespace nustream::engine
