#include "nustream/ranges/linear_fit.h"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "moments/response_covariance.h"
#include "moments/triangle.h"
#include "nustream/base/error.h"
#include "nustream/moments/interval.h"
#include "nustream/ranges/rows.h"
#include "ranges/column_stage.h"
#include "ranges/coordinates.h"
#include "ranges/part_sums.h"

namespace nustream::ranges {
namespace {

using Vector = Eigen::VectorXd;

constexpr double hardly_usable = 0.1;
constexpr double least_widening = 2;
constexpr double pilot_widening = 2;
constexpr double pilot_slack = 1.5;
const moments::Shares pilot_shares{0.5, 0.5};
const moments::Shares answer_shares{0.35, 0.6, 0.05};

/// Rows of a part in placed and whitened coordinates.
class WorkingRows {
 public:
  WorkingRows(Rows& rows, const LinearFit& fit) : rows_(rows), fit_(fit), placed_(Vector::Ones(dimension())) {}

  [[nodiscard]] Eigen::Index dimension() const { return static_cast<Eigen::Index>(fit_.placements.size()); }
  void whiten(const Eigen::MatrixXd& matrix) { whiten_ = matrix; }

  /// A row without one of its numbers has a target that is no number.
  void each(const Part& part, const AddRow& add) {
    for (std::uint64_t place = part.first; place < part.first + part.count; ++place) {
      const std::uint64_t position = rows_.stride.position(place);
      for (Eigen::Index j = 1; j < dimension(); ++j) {
        const std::size_t k = static_cast<std::size_t>(j) - 1;
        placed_(j) = placed(fit_.placements[k], rows_.value(position, fit_.features[k]));
      }
      const double target = placed(fit_.placements.back(), rows_.value(position, rows_.table.features));
      if (!placed_.allFinite()) {
        add(unusable(), std::numeric_limits<double>::quiet_NaN());
        continue;
      }
      whitened_.noalias() = whiten_ * placed_;
      add({whitened_.data(), static_cast<std::size_t>(whitened_.size())}, target);
    }
  }

 private:
  static double placed(const Placement& placement, double value) {
    return (value - placement.centre) / placement.scale;
  }
  std::span<const double> unusable() {
    whitened_ = Vector::Zero(dimension());
    return {whitened_.data(), static_cast<std::size_t>(whitened_.size())};
  }

  Rows& rows_;
  const LinearFit& fit_;
  Vector placed_;
  Vector whitened_;
  Eigen::MatrixXd whiten_;
};

std::optional<RowScales> measure_rows(WorkingRows& rows, const Part& part, const Vector& centre,
                                      const FitSettings& settings, KeyStage stage, const DrawNoise& draw) {
  const HistogramDesign design{2, length_bins, settings.adjacency};
  const CountNoise mechanism(design, settings.rho);
  ExactCounts counts(design);
  rows.each(part, [&](std::span<const double> inputs, double target) {
    const Eigen::Map<const Vector> x(inputs.data(), static_cast<Eigen::Index>(inputs.size()));
    const bool usable = std::isfinite(target);
    const std::size_t bins[] = {usable ? length_bin(x.norm()) : no_bin,
                                usable ? length_bin(std::fabs(target - x.dot(centre))) : no_bin};
    counts.add(bins);
  });
  return row_scales(NoisyCounts(counts, mechanism, draw(stage, mechanism.grid(), design.entries())));
}

std::vector<double> entries_of(const Vector& vector) {
  return {vector.data(), vector.data() + vector.size()};
}

PartDesign part_design(const FitSettings& settings, std::size_t dimension, const RowBounds& bounds,
                       const Vector& centre) {
  const moments::Design of{{dimension, 0}, moments::Spread::none, {settings.adjacency, false}};
  return {of, {}, settings.rho, {bounds.inputs, 1, bounds.residuals}, entries_of(centre), {}};
}

/// One step's noise, independent of any other.
constexpr double alone[] = {1.0};

/// The pilot's estimate in placed coordinates, and the whitening that it gives.
std::pair<Vector, Whitening> pilot(WorkingRows& rows, const Part& part, const FitSettings& settings,
                                   const RowBounds& bounds, const DrawNoise& draw) {
  const auto d = static_cast<std::size_t>(rows.dimension());
  PartDesign design = part_design(settings, d, bounds, Vector::Zero(rows.dimension()));
  design.shares = pilot_shares;
  design.stages = {KeyStage::pilot_second, KeyStage::pilot_target};
  const PartSums found = sum_part(
      design, [&](const AddRow& add) { rows.each(part, add); }, draw);
  const moments::Estimate estimate = moments::estimate(found.sums, found.frame, alone);
  const Vector theta = Eigen::Map<const Vector>(estimate.theta.data(), rows.dimension());
  return {theta, whitening_of(found.sums.stages().front().second, d, estimate.floor)};
}

/// θ and its variances in original units, from sums in whitened ones.
void answer(PartSums found, const Whitening& whitening, LinearFit& fit) {
  const auto d = static_cast<Eigen::Index>(fit.placements.size());
  // Residuals about a pilot tell of the spread: a stage behind the first (moments/interval.h).
  moments::StageSums stage = found.sums.stages().front();
  stage.first = 1;
  const Eigen::MatrixXd second = moments::full_matrix(stage.second, static_cast<std::size_t>(d));
  const Vector constant = whitening.restore.col(0);
  found.frame.every = static_cast<std::uint64_t>(std::max(1.0, constant.dot(second * constant)));
  found.sums.restore({stage});
  const moments::Estimate estimate = moments::estimate(found.sums, found.frame, alone);
  fit.floored = estimate.floored;
  const WayBack back = way_back(fit.placements);
  const Eigen::MatrixXd to_original = back.matrix * whitening.whiten;
  Vector theta = to_original * Eigen::Map<const Vector>(estimate.theta.data(), d);
  theta(0) += back.offset;
  fit.theta = entries_of(theta);
  constexpr double target[] = {1.0};
  const StepCount steps{2};
  const auto known = moments::target_variances(found.sums, found.frame, alone, estimate, steps);
  const auto covariance = moments::covariance_of(found.sums, found.frame, alone, estimate, target, steps);
  if (!known || !covariance) return;
  double degrees = std::numeric_limits<double>::infinity();
  for (const auto& one : *known) degrees = std::min(degrees, one.degrees_of_freedom);
  const Eigen::MatrixXd original = to_original * *covariance * to_original.transpose();
  if (!(original.diagonal().minCoeff() > 0)) return;
  for (Eigen::Index j = 0; j < d; ++j) fit.variances.push_back({original(j, j), degrees});
}

}  // namespace

LinearFit fit_linear(const Table& table, const FitSettings& settings, const DrawNoise& draw) {
  NUSTREAM_REQUIRE(table.x.size() == table.features * table.y.size(), "a row for every target");
  const Sizes parts = sizes({table.records(), table.features + 1, settings.rho, settings.adjacency});
  LinearFit fit;
  Rows rows(table);
  place_columns(rows, parts, settings, draw, fit);
  if (fit.is_stopped) return fit;
  WorkingRows working(rows, fit);
  const auto d = static_cast<std::size_t>(working.dimension());
  Whitening whitening = no_whitening(d);
  working.whiten(whitening.whiten);
  auto scales = measure_rows(working, rows.dealer.deal(parts.rows), Vector::Zero(working.dimension()), settings,
                             KeyStage::first_lengths, draw);
  fit.is_stopped = !scales || scales->counted < hardly_usable;
  if (fit.is_stopped) return fit;
  fit.usable = scales->counted;
  fit.pilot = {pilot_widening * scales->inputs, pilot_slack * pilot_widening * scales->residuals, pilot_widening};
  auto [theta, found] = pilot(working, rows.dealer.deal(parts.pilot), settings, fit.pilot, draw);
  whitening = std::move(found);
  working.whiten(whitening.whiten);
  const Vector centre = whitening.restore * theta;
  const auto closer =
      measure_rows(working, rows.dealer.deal(parts.rows), centre, settings, KeyStage::second_lengths, draw);
  fit.is_stopped = !closer;
  if (fit.is_stopped) return fit;
  const Part rest = rows.dealer.rest();
  fit.answer_records = rest.count;
  const double share = answer_shares[1];
  const double wide = widening(Rho{settings.rho.value() * share}, rest.count, d, closer->inputs);
  fit.bounds = {std::max(least_widening, wide / 2) * closer->inputs, wide * closer->residuals, wide};
  PartDesign design = part_design(settings, d, fit.bounds, centre);
  design.design.spread = moments::Spread::residuals;
  design.shares = answer_shares;
  design.stages = {KeyStage::second, KeyStage::target, KeyStage::spread};
  answer(sum_part(
             design, [&](const AddRow& add) { working.each(rest, add); }, draw),
         whitening, fit);
  return fit;
}

}  // namespace nustream::ranges
