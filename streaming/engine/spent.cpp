#include "engine/spent.h"

#include <limits>
#include <vector>

#include "nustream/privacy/ledger.h"

namespace nustream::engine {

Rho total_spent(std::span<const journal::LedgerEntry> entries) {
  std::vector<privacy::LedgerEntry> spends;
  for (const journal::LedgerEntry& entry : entries) {
    spends.push_back({entry.lane, entry.epoch, entry.from, entry.to, entry.steps, entry.rho, entry.settings_digest,
                      entry.overlap == journal::Overlap::disjoint      ? privacy::Disjointness::disjoint
                      : entry.overlap == journal::Overlap::overlapping ? privacy::Disjointness::overlapping
                                                                       : privacy::Disjointness::unknown});
  }
  return privacy::total(spends);
}

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
  while (beyond - within > 1) {
    const std::uint64_t middle = within + (beyond - within) / 2;
    (fits(middle) ? within : beyond) = middle;
  }
  return StepCount{within};
}

}  // namespace nustream::engine
