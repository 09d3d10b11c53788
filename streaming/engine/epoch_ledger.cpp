#include "engine/epoch_ledger.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/spent.h"
#include "nustream/users/charge.h"
#include "nustream/users/sensitivity.h"
#include "planted.h"

namespace nustream::engine {

namespace {

/// A bug that tests plant: the steps of this run alone, of an epoch that it goes on with.
StepCount steps_since(const journal::Ledger& ledger, const EpochIdentity& identity, StepCount steps) {
  for (const journal::LedgerEntry& known : ledger.epochs) {
    const bool same = known.lane == identity.lane && known.epoch == identity.epoch;
    if (same && known.steps < steps) return StepCount{steps.value() - known.steps.value()};
  }
  return steps;
}

}  // namespace

namespace {

/// Lines hold ρ of so many counts at most: of a larger k they hold its own alone, and epochs add up.
constexpr std::uint64_t counts_in_a_line_max = 64;

/// Over `steps` > 0 steps, or over all that there may be.
journal::UserSpend user_spend(const config::Mechanism& mechanism, const EpochIdentity& identity,
                              std::optional<StepCount> steps) {
  const users::Limits& limits = *identity.limits;
  std::vector<users::Mechanism> mechanisms;
  for (const config::StageNoise& stage : mechanism.stages) mechanisms.push_back({stage.correlation, stage.sigma});
  journal::UserSpend spend{limits, identity.carries_over, {}, std::nullopt};
  const auto& participation = limits.participation();
  if (participation && participation->times() > counts_in_a_line_max) {
    privacy::Spend all = users::spend(mechanisms.front().correlation, {participation, {}}, mechanisms.front().sigma);
    for (std::size_t i = 1; i < mechanisms.size(); ++i) {
      all = all.beside(users::spend(mechanisms[i].correlation, {participation, {}}, mechanisms[i].sigma));
    }
    spend.by_count = {steps ? all.after(*steps) : all.limit()};
    if (!limits.mass()) return spend;
  }
  const users::Limits rest(spend.by_count.empty() ? participation : std::nullopt, limits.mass());
  users::Epoch epoch = users::epoch_of(mechanisms, rest, steps, identity.carries_over);
  if (spend.by_count.empty()) spend.by_count = std::move(epoch.by_count);
  if (limits.mass()) spend.of_mass = epoch.of_mass;
  return spend;
}

/// Of a line; nothing where the unit is a record.
std::optional<journal::UserSpend> user_spend_after(const config::Mechanism& mechanism, const EpochIdentity& identity,
                                                   StepCount steps) {
  if (!identity.limits) return std::nullopt;
  journal::UserSpend spend = user_spend(mechanism, identity, StepCount{std::max<std::uint64_t>(1, steps.value())});
  if (steps.value() > 0) return spend;
  std::ranges::fill(spend.by_count, Rho{0});
  if (spend.of_mass) spend.of_mass = Rho{0};
  return spend;
}

}  // namespace

EpochLedger::EpochLedger(EpochIdentity identity, const config::Mechanism& mechanism, journal::Ledger ledger)
    : identity_(std::move(identity)), mechanism_(mechanism), ledger_(std::move(ledger)) {
  static_cast<void>(total_spent(ledger_.epochs, identity_.neighbours));
}

void EpochLedger::owe(const journal::LedgerEntry& entry) {
  owed_.push_back(entry);
  std::erase_if(ledger_.epochs, [&](const journal::LedgerEntry& known) { return known.epoch == entry.epoch; });
  ledger_.epochs.push_back(entry);
  static_cast<void>(total_spent(ledger_.epochs, identity_.neighbours));
}

journal::LedgerEntry EpochLedger::entry(StepCount steps, Position to) const {
  if (NUSTREAM_PLANTED("resume-restarts-the-spend")) steps = steps_since(ledger_, identity_, steps);
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
          user_spend_after(mechanism_, identity_, steps)};
}

std::vector<journal::LedgerEntry> EpochLedger::others() const {
  std::vector<journal::LedgerEntry> entries;
  for (const journal::LedgerEntry& known : ledger_.epochs) {
    if (NUSTREAM_PLANTED("spend-forgets-earlier-epochs")) continue;
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
  if (identity_.limits) entries.back().user = user_spend(mechanism_, identity_, std::nullopt);
  return total_spent(entries, identity_.neighbours);
}

std::optional<StepCount> EpochLedger::limit(const std::optional<Rho>& budget, Position to) const {
  const std::optional<StepCount> horizon = mechanism_.horizon();
  if (!budget || total_in_the_limit(to) <= *budget) return horizon;
  return furthest_within(horizon, *budget, [&](StepCount steps) { return total(steps, to); });
}

std::string EpochLedger::append_lines(StepCount steps, Position to, const secrets::Keyring& keys) {
  std::string lines;
  const auto append = [&](const journal::LedgerEntry& line) {
    const std::string text = journal::ledger_line(line, ledger_.head, keys);
    ledger_.head = journal::hash_of(text);
    lines += text;
  };
  for (const journal::LedgerEntry& entry : owed_) append(entry);
  owed_.clear();
  append(entry(steps, to));
  return lines;
}

}  // namespace nustream::engine
