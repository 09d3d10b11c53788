// The stages of a linear fit, each over rows of its own: columns are placed, lengths give the pilot's bounds, the
// pilot gives a centre and the whitening, and lengths about it give the scales of residuals. The answer's rows are
// read twice: for a histogram of their residuals, which sets the bound, and for the moments. The variances come last.
#include "nustream/ranges/linear_fit.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "inference/symmetric.h"
#include "moments/sampling.h"
#include "moments/triangle.h"
#include "nustream/base/error.h"
#include "nustream/moments/interval.h"
#include "nustream/ranges/rows.h"
#include "ranges/pilot.h"
#include "ranges/residual_tails.h"

namespace nustream::ranges {
namespace {

using Vector = Eigen::VectorXd;

/// Intervals are withheld where the part of the pilot's error that the bound on residuals may leave exceeds this
/// share of the variance by noise and sampling. That part is known only roughly, so intervals would be too wide or
/// too narrow.
constexpr double most_of_bound = 0.5;
/// In units of the target's scale: a narrower bound says that nearly all targets are alike, and that the noise hides
/// the others.
constexpr double least_residuals = 0x1p-13;
/// The shares of second moments, target moments and spread.
const moments::Shares answer_shares{0.34, 0.58, 0.08};

/// The scales of rows about `centre`. Residuals of a hundredth of the rows widen the scale of residuals, so that a
/// few targets that differ from all others do not count as outliers. Noise in a far bin may look like such residuals,
/// so the scale is never wider than the targets' own length.
std::optional<RowScales> measure_rows(WorkingRows& rows, const Part& part, const Vector& centre,
                                      const FitSettings& settings, const TableFit& fit, KeyStage stage,
                                      const DrawNoise& draw) {
  const auto lengths = [&](const auto& x, double target, std::span<double> found) {
    found[0] = x.norm();
    found[1] = std::fabs(target - x.dot(centre));
  };
  // Whatever is read from these scales is post-processing of two noisy histograms.
  auto scales = row_scales(measure(rows, part, 2, lengths, settings, stage, draw));
  if (!scales) return scales;
  const double longest = 2 * longest_target(fit);
  scales->tail = std::min(scales->tail, longest);
  if (longest > 0) scales->residuals = std::min(scales->residuals, longest);
  scales->residuals = std::max(scales->residuals, scales->tail / 4);
  return scales;
}

/// The ρ of the answer's target moments.
Rho rho_of_target(const FitSettings& settings) {
  return Rho{settings.rho.value() * answer_shares[1]};
}

/// The standard deviation of the noise in Σ x·r for a bound of residuals of 1, beside a bound of inputs.
double noise_per_unit(const FitSettings& settings, double inputs) {
  const double replaced = settings.adjacency == privacy::Adjacency::replace_one ? 2 : 1;
  return replaced * inputs / std::sqrt(2 * rho_of_target(settings).value());
}

/// The residuals' deviation: that of the middle ones, or that of all where a few are much longer than most.
double deviation_of(const RowScales& scales, const ResidualTails& tails) {
  return std::max(scales.residuals, tails.root_mean_square());
}

/// The bounds of the answer about the pilot's solution. They are as wide as the noise allows, and the bound of
/// residuals is wider where it would take more off on one side than on the other. `weight` is the rows' mean weight.
RowBounds answer_bounds(const FitSettings& settings, const RowScales& scales, const ResidualTails& tails,
                        double weight, const TableFit& fit) {
  const std::size_t d = fit.placements.size();
  // The inputs were whitened by weighted moments. Without the weights their lengths would be about √d.
  const double wide = widening(rho_of_target(settings), fit.answer_records, d, scales.inputs / std::sqrt(weight));
  RowBounds bounds;
  bounds.inputs = inputs_multiple(wide, d) * scales.inputs;
  const double least = std::max(residuals_multiple(wide, d) * deviation_of(scales, tails), scales.tail);
  bounds.residuals = residual_bound(tails, {least, noise_per_unit(settings, bounds.inputs)});
  bounds.widening = bounds.residuals / scales.residuals;
  bounds.balanced = std::max(wide * scales.residuals, scales.tail);
  return bounds;
}

/// Where most targets are alike, the bounds of later sums follow from the bound of the answer, since the middle
/// residuals say nothing about the others.
void widen_later_bounds(const RowScales& scales, const ResidualTails& tails, TableFit& fit) {
  if (deviation_of(scales, tails) <= mostly_alike * scales.residuals) return;
  const double narrower = std::min(fit.bounds.inputs, fit.pilot.inputs) / fit.pilot.inputs;
  const double wide = fit.bounds.residuals * narrower;
  fit.bounds.balanced = std::max(fit.bounds.balanced, wide);
  fit.pilot.residuals = std::max(fit.pilot.residuals, wide);
}

/// Makes the intervals wider by what the bound takes off on one side, or withholds them where that is much.
void allow_for_bound(const ResidualTails& tails, const FitSettings& settings, TableFit& fit) {
  const double bound = fit.bounds.residuals;
  const double noise = noise_per_unit(settings, fit.bounds.inputs);
  if (takes_much_off(tails, noise, bound)) fit.variances.clear();
  const double share = tails.taken_off(bound) / tails.deviation(noise, bound);
  for (inference::EstimatedVariance& each : fit.variances) each.variance *= 1 + share * share;
}

/// The design of the answer with the bounds in `fit`. For users it has no residual moments, which only intervals
/// need.
PartDesign answer_design(const FitSettings& settings, bool of_users, double deviation, const Vector& centre,
                         const TableFit& fit) {
  const Rho of_spread{settings.rho.value() * answer_shares[2]};
  PartDesign design = part_design(settings, of_users, fit.bounds, centre);
  if (of_users) {
    design.shares = {answer_shares[0], answer_shares[1]};
    design.stages = {KeyStage::second, KeyStage::target};
    return design;
  }
  design.design.spread = moments::Spread::tight_sandwich;
  design.radii.tight_target =
      deviation * tight_widening(of_spread, fit.answer_records, fit.bounds.inputs, fit.bounds.residuals / deviation);
  design.shares = answer_shares;
  design.stages = {KeyStage::second, KeyStage::target, KeyStage::spread};
  return design;
}

std::vector<double> entries_of(const Vector& vector) {
  return {vector.data(), vector.data() + vector.size()};
}

/// The variances of θ in original units; empty where they cannot be computed. `ratio` is the number of the answer's
/// records over the pilot's.
std::vector<inference::EstimatedVariance> variances_of(const PartSums& found, const moments::Estimate& estimate,
                                                       const Pilot& pilot, double ratio, double middle,
                                                       const Eigen::MatrixXd& to_original) {
  constexpr double target[] = {1.0};
  // The only stage begins at step 1 (answer()), so it ends at 2.
  const StepCount steps{2};
  const auto known = moments::target_variances(found.sums, found.frame, alone, estimate, steps);
  const auto covariance = moments::covariance_of(found.sums, found.frame, alone, estimate, target, steps);
  const auto meat = moments::meat_of(found.sums, found.frame, alone, estimate, target, steps.value());
  if (!known || !covariance || !meat || !pilot.by_noise) return {};
  double degrees = std::numeric_limits<double>::infinity();
  for (const auto& one : *known) degrees = std::min(degrees, one.degrees_of_freedom);
  const moments::StageSums& stage = found.sums.stages().front();
  const Eigen::Index d = to_original.cols();
  const Eigen::MatrixXd second = moments::full_matrix(stage.second, static_cast<std::size_t>(d));
  const Eigen::MatrixXd inverse = second.llt().solve(Eigen::MatrixXd::Identity(d, d));
  // The pilot's bounds may have moved the pilot, too. The answer's distance from the pilot shows that. So the
  // covariance of the pilot's error is taken as the mean of two: the one by noise and sampling, and the square of
  // this distance.
  const Vector way =
      Eigen::Map<const Vector>(estimate.theta.data(), d) - Eigen::Map<const Vector>(stage.centre.data(), d);
  const Eigen::MatrixXd of_pilot =
      pilot.whitening.restore * *pilot.by_noise * pilot.whitening.restore + ratio * inverse * meat->value * inverse;
  const Eigen::MatrixXd left = left_of_pilot(second, {meat->value, meat->stddev, middle, stage.radii.target},
                                             (of_pilot + way * way.transpose()) / 2);
  std::vector<inference::EstimatedVariance> variances;
  for (Eigen::Index j = 0; j < d; ++j) {
    const Eigen::RowVectorXd row = to_original.row(j);
    const double own = row.dot(row * *covariance);
    const double of_bound = row.dot(row * left);
    if (!(own > 0 && of_bound <= most_of_bound * own)) return {};
    variances.push_back({own + of_bound, degrees});
  }
  return variances;
}

/// Fills in θ and its variances in original units, from sums in whitened ones.
void answer(PartSums found, const Pilot& pilot, double pilot_records, const WorkingRows& rows, TableFit& fit) {
  const Whitening& whitening = pilot.whitening;
  const auto d = static_cast<Eigen::Index>(fit.placements.size());
  // Residuals about a pilot are an estimate of the spread. moments/interval.h takes only stages after the first for
  // that, so this stage is marked as a later one.
  moments::StageSums stage = found.sums.stages().front();
  stage.first = 1;
  const Eigen::MatrixXd second = moments::full_matrix(stage.second, static_cast<std::size_t>(d));
  // Whitened inputs are Wx with x_0 = 1, so this vector's product with every usable row is 1.
  const Vector constant = whitening.restore.col(0);
  found.frame.constant = entries_of(constant);
  found.sums.restore({stage});
  const moments::Estimate estimate = moments::estimate(found.sums, found.frame, alone);
  fit.floored = estimate.floored;
  const WayBack back = way_back(fit.placements);
  const Eigen::MatrixXd to_original = back.matrix * whitening.whiten;
  fit.undetermined = undetermined(inference::symmetric_spectrum(second).vectors, fit.floored, to_original);
  Vector theta = to_original * Eigen::Map<const Vector>(estimate.theta.data(), d);
  // The way back is affine: the target's centre belongs to the intercept alone.
  theta(0) += back.offset;
  fit.theta = entries_of(theta);
  const Eigen::MatrixXd by_noise = moments::floored_privacy_of(found.sums, found.frame, alone, estimate, alone);
  fit.noise_stddevs = deviations(to_original * by_noise * to_original.transpose());
  if (rows.are_weighted() || rows.are_of_users()) return;
  if (fit.bounds.widening < narrowest_for_intervals || fit.bounds.residuals < least_residuals) return;
  const double ratio = static_cast<double>(fit.answer_records) / pilot_records;
  fit.variances =
      variances_of(found, estimate, pilot, ratio, fit.bounds.residuals / fit.bounds.widening, to_original);
}

TableFit fit_in_public_units(const Table& table, const FitSettings& settings, const DrawNoise& draw) {
  NUSTREAM_REQUIRE(table.x.size() == table.features * table.y.size(), "a row for every target");
  NUSTREAM_REQUIRE(table.weights.empty() || table.weights.size() == table.y.size(), "a weight for every row");
  NUSTREAM_REQUIRE(table.users.empty() || table.users.size() == table.y.size(), "a user for every row");
  const bool of_users = !table.users.empty();
  // It throws before any noise is drawn, so that a fit that is refused costs nothing.
  const Sizes parts = sizes({table.records(), table.features + 1, settings.rho, settings.adjacency, of_users});
  const PartRhos rhos = part_rhos(settings.rho, of_users, 2);
  TableFit fit;
  Rows rows(table);
  place_columns(rows, parts, settings.at(rhos.columns), draw, fit);
  if (fit.is_stopped) return fit;
  WorkingRows working(rows, fit);
  // Before the pilot the centre is 0, so residuals are the placed targets themselves.
  const auto scales = measure_rows(working, rows.dealer.deal(parts.rows), Vector::Zero(working.dimension()),
                                   settings.at(rhos.lengths), fit, KeyStage::first_lengths, draw);
  fit.is_stopped = !scales || scales->counted < hardly_usable;
  if (fit.is_stopped) return fit;
  fit.usable = scales->counted;
  fit.usable_stddev = scales->counted_stddev;
  fit.pilot = {pilot_widening * scales->inputs,
               std::max(pilot_slack * pilot_widening * scales->residuals, scales->tail), pilot_widening};
  const Pilot first = pilot(working, rows.dealer.deal(parts.pilot), settings.at(rhos.pilot), fit.pilot, draw);
  working.whiten(first.whitening.whiten);
  fit.largest_second = first.largest;
  fit.smallest_second = first.smallest;
  fit.mean_weight = first.weight;
  const Vector centre = first.whitening.restore * first.theta;
  const auto closer = measure_rows(working, rows.dealer.deal(parts.rows), centre, settings.at(rhos.lengths), fit,
                                   KeyStage::second_lengths, draw);
  fit.is_stopped = !closer;
  if (fit.is_stopped) return fit;
  const Part rest = rows.dealer.rest();
  fit.answer_records = rest.count;
  // Tails and moments are two releases over the same rows, so their ρ add up to the answer's.
  const double for_tails = tails_share(fit);
  const ResidualTails tails = residual_tails(
      working, rest, [&](const auto& x, double target) { return target - x.dot(centre); },
      {2 * longest_target(fit), Rho{for_tails * rhos.answer.value()}, settings.adjacency}, draw);
  fit.is_target_hidden = hides_targets(fit, tails.longest_together(), rhos.pilot, static_cast<double>(parts.pilot));
  fit.is_stopped = fit.is_target_hidden || tails.rows() == 0;
  if (fit.is_stopped) return fit;
  const FitSettings left = settings.at(Rho{(1 - for_tails) * rhos.answer.value()});
  fit.bounds = answer_bounds(left, *closer, tails, first.weight, fit);
  widen_later_bounds(*closer, tails, fit);
  const PartDesign design = answer_design(left, of_users, deviation_of(*closer, tails), centre, fit);
  answer(sum_part(
             design, [&](const AddRow& add, const EndUser& end) { working.each(rest, add, end); }, draw),
         first, static_cast<double>(parts.pilot), working, fit);
  allow_for_bound(tails, left, fit);
  return fit;
}

}  // namespace

TableFit fit_linear(const Table& table, const FitSettings& settings, const DrawNoise& draw) {
  NUSTREAM_REQUIRE(table.units.exposure == 1, "targets that are no rates");
  TableFit fit = fit_in_public_units(table, settings, draw);
  to_table_units(table.units, fit);
  return fit;
}

}  // namespace nustream::ranges
