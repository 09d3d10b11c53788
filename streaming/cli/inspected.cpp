// Totals of what `nustream inspect` shows: ρ of all epochs by the ledger, and what it comes to as ε and for groups.
#include "cli/inspected.h"

#include "engine/spent.h"

namespace nustream::cli {
namespace {

/// The δ of the last release.
std::vector<Delta> deltas_of(const publish::ShownRelease& release) {
  std::vector<Delta> deltas;
  for (const publish::Epsilons& at : release.epsilons) deltas.emplace_back(at.delta);
  if (deltas.empty()) deltas.emplace_back(release.delta);  // a line of an older version has one δ
  return deltas;
}

}  // namespace

Rho total_of(const journal::Ledger& ledger) {
  if (ledger.epochs.empty()) return Rho{0};
  return engine::total_spent(ledger.epochs, ledger.epochs.back().neighbours);
}

std::vector<publish::Epsilons> total_epsilons(const Inspected& report, const publish::ShownRelease& release) {
  return publish::epsilons_of(total_of(report.ledger), deltas_of(release));
}

std::vector<publish::GroupSpend> groups_of(const Inspected& report, Delta delta) {
  const auto& epochs = report.ledger.epochs;
  if (!epochs.empty() && epochs.back().neighbours.of_user) return {};
  return engine::group_bounds(total_of(report.ledger), delta);
}

}  // namespace nustream::cli
