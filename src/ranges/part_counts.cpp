// Counts the bins of a part's rows, as records or as shortened users, and releases the counts with noise that is
// drawn once, on the mechanism's grid.
#include "ranges/part_counts.h"

#include <vector>

namespace nustream::ranges {
namespace {

/// Lets `counts` take the bins of every row of the part.
template <class Counts>
void take(const Rows& rows, const Part& part, std::size_t histograms, const BinsAt& bins_at, Counts& counts,
          const EndUser& end) {
  std::vector<std::size_t> bins(histograms);
  rows.each(
      part,
      [&](std::uint64_t position) {
        bins_at(position, bins);
        counts.add(bins);
      },
      end);
}

}  // namespace

NoisyCounts count_part(const Rows& rows, const Part& part, const HistogramDesign& design, Rho rho,
                       const BinsAt& bins_at, KeyStage stage, const DrawNoise& draw) {
  const CountNoise mechanism(design, rho);
  if (rows.are_of_users()) {
    UserCounts counts(mechanism);
    take(rows, part, design.histograms, bins_at, counts, [&counts] { counts.end_user(); });
    return {counts, draw(stage, mechanism.grid(), design.entries())};
  }
  ExactCounts counts(design);
  take(rows, part, design.histograms, bins_at, counts, {});
  return {counts, mechanism, draw(stage, mechanism.grid(), design.entries())};
}

}  // namespace nustream::ranges
