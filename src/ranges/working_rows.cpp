// Brings rows into placed and whitened coordinates, and counts what is measured of them. A row that lacks a number
// goes the same way as the others, as zeros with a target of NaN, so that the number of rows of a part stays public.
#include "ranges/working_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "nustream/ranges/rows.h"
#include "ranges/part_counts.h"

namespace nustream::ranges {
namespace {

double placed(const Placement& placement, double value) {
  return (value - placement.centre) / placement.scale;
}

}  // namespace

WorkingRows::WorkingRows(Rows& rows, const TableFit& fit)
    : rows_(rows),
      fit_(fit),
      placed_(Eigen::VectorXd::Ones(dimension())),
      whiten_(Eigen::MatrixXd::Identity(dimension(), dimension())) {}

void WorkingRows::each(const Part& part, const AddRow& add, const EndUser& end) {
  rows_.each(
      part, [&](std::uint64_t position) { at(position, add); }, end);
}

void WorkingRows::at(std::uint64_t position, const AddRow& add) {
  // Entry 0 is the intercept's 1, which the constructor has set.
  for (Eigen::Index j = 1; j < dimension(); ++j) {
    const std::size_t k = static_cast<std::size_t>(j) - 1;
    placed_(j) = placed(fit_.placements[k], rows_.value(position, fit_.features[k]));
  }
  const double target = placed(fit_.placements.back(), rows_.value(position, rows_.table.features));
  const PublicUnits& units = rows_.table.units;
  const double weight = are_weighted() ? rows_.table.weights[position] / units.weight / units.exposure : 1;
  if (!placed_.allFinite() || !(weight >= 0 && std::isfinite(weight))) {
    // An unusable row is handed on as zeros, so that every part has its public number of rows.
    return add(unusable(), std::numeric_limits<double>::quiet_NaN(), 0);
  }
  // Before the pilot the matrix is the identity.
  whitened_.noalias() = whiten_ * placed_;
  add({whitened_.data(), static_cast<std::size_t>(whitened_.size())}, target, weight);
}

std::span<const double> WorkingRows::unusable() {
  whitened_ = Eigen::VectorXd::Zero(dimension());
  return {whitened_.data(), static_cast<std::size_t>(whitened_.size())};
}

NoisyCounts count(WorkingRows& rows, const Part& part, const HistogramDesign& design, Rho rho, const RowBins& bins_of,
                  KeyStage stage, const DrawNoise& draw) {
  const auto bins_at = [&](std::uint64_t position, std::span<std::size_t> bins) {
    std::ranges::fill(bins, no_bin);
    rows.at(position, [&](std::span<const double> inputs, double target, double weight) {
      // Such a row has no bin, and counts among the part's rows all the same.
      if (!std::isfinite(target)) return;
      bins_of(Eigen::Map<const Eigen::VectorXd>(inputs.data(), static_cast<Eigen::Index>(inputs.size())), target,
              weight, bins);
    });
  };
  return count_part(rows.rows(), part, design, rho, bins_at, stage, draw);
}

NoisyCounts measure(WorkingRows& rows, const Part& part, std::size_t histograms, const Lengths& lengths,
                    const FitSettings& settings, KeyStage stage, const DrawNoise& draw) {
  std::vector<double> found(histograms);
  const RowBins bins_of = [&](const auto& x, double target, double weight, std::span<std::size_t> bins) {
    // Weighted rows enter sums multiplied by √w, so their lengths are measured so.
    lengths(x, target, found);
    for (std::size_t i = 0; i < histograms; ++i) bins[i] = length_bin(std::sqrt(weight) * found[i]);
  };
  return count(rows, part, {histograms, length_bins, settings.adjacency}, settings.rho, bins_of, stage, draw);
}

}  // namespace nustream::ranges
