#include "engine/epoch_ledger.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/spent.h"

namespace nustream::engine {

EpochLedger::EpochLedger(EpochIdentity identity, const config::Mechanism& mechanism, journal::Ledger ledger)
    : identity_(std::move(identity)), mechanism_(mechanism), ledger_(std::move(ledger)) {}

void EpochLedger::owe(const journal::LedgerEntry& entry) {
  owed_ = entry;
  std::erase_if(ledger_.epochs, [&](const journal::LedgerEntry& known) { return known.epoch == entry.epoch; });
  ledger_.epochs.push_back(entry);
}

journal::LedgerEntry EpochLedger::entry(StepCount steps, Position to) const {
  return {identity_.stream,
          identity_.lane,
          identity_.epoch,
          identity_.start,
          to,
          steps,
          mechanism_.spend.after(steps),
          mechanism_.spend.limit(),
          identity_.digest,
          identity_.is_private,
          identity_.overlap};
}

std::vector<journal::LedgerEntry> EpochLedger::with_own(StepCount steps, Position to) const {
  std::vector<journal::LedgerEntry> entries;
  for (const journal::LedgerEntry& known : ledger_.epochs) {
    if (known.lane != identity_.lane || known.epoch != identity_.epoch) entries.push_back(known);
  }
  entries.push_back(entry(steps, to));
  return entries;
}

Rho EpochLedger::total_with(Rho spent, StepCount steps, Position to) const {
  std::vector<journal::LedgerEntry> entries = with_own(steps, to);
  entries.back().rho = spent;
  if (steps.value() == 0) entries.pop_back();
  return total_spent(entries);
}

Rho EpochLedger::total(StepCount steps, Position to) const {
  return total_with(mechanism_.spend.after(steps), steps, to);
}

std::optional<StepCount> EpochLedger::limit(const std::optional<Rho>& budget, Position to) const {
  const std::optional<StepCount> horizon = mechanism_.horizon();
  if (!budget || total_with(mechanism_.spend.limit(), StepCount{1}, to) <= *budget) return horizon;
  return furthest_within(horizon, *budget, [&](StepCount steps) { return total(steps, to); });
}

std::string EpochLedger::append_lines(StepCount steps, Position to, const secrets::Keyring& keys) {
  std::string lines;
  const auto append = [&](const journal::LedgerEntry& line) {
    const std::string text = journal::ledger_line(line, ledger_.head, keys);
    ledger_.head = journal::hash_of(text);
    lines += text;
  };
  if (owed_) append(*owed_);
  owed_.reset();
  append(entry(steps, to));
  return lines;
}

}  // namespace nustream::engine
