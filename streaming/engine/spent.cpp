#include "engine/spent.h"

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "error.h"
#include "nustream/privacy/ledger.h"
#include "planted.h"

namespace nustream::engine {

Rho total_spent(std::span<const journal::LedgerEntry> entries, privacy::Neighbours asked) {
  std::vector<privacy::LedgerEntry> spends;
  for (const journal::LedgerEntry& entry : entries) {
    const std::optional<Rho> rho = privacy::restated(entry.rho, entry.neighbours, asked);
    if (!rho) {
      throw Failure(Exit::configuration,
                    "privacy.protects = \"record\": epoch " + std::to_string(entry.epoch.value()) +
                        " of the ledger protected targets alone, so that nothing is known of what whole records have "
                        "spent; begin in another state.directory or with other topics, or protect targets again");
    }
    spends.push_back({entry.lane, entry.epoch, entry.from, entry.to, entry.steps, *rho, entry.settings_digest,
                      entry.overlap == journal::Overlap::disjoint      ? privacy::Disjointness::disjoint
                      : entry.overlap == journal::Overlap::overlapping ? privacy::Disjointness::overlapping
                                                                       : privacy::Disjointness::unknown});
  }
  return privacy::total(spends);
}

StepCount furthest_within(std::optional<StepCount> horizon, Rho budget, const std::function<Rho(StepCount)>& total) {
  const std::uint64_t furthest = horizon ? horizon->value() : std::numeric_limits<std::uint64_t>::max() / 2;
  const auto fits = [&](std::uint64_t steps) {
    return total(StepCount{NUSTREAM_PLANTED("budget-is-crossed-by-a-step") ? steps - 1 : steps}) <= budget;
  };
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
