// The audit's own account of a step of running sums: what a row adds to each block, by the formulas of
// moments/batch_sums.h in floating-point numbers, and each block's noisy sum as the difference of two released
// states.
#include "audit/sums_stages.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "nustream/descent/second_moments.h"

namespace nustream::audit {
namespace {

using Vector = Eigen::VectorXd;

Eigen::Index index_of(std::size_t count) {
  return static_cast<Eigen::Index>(count);
}

Vector mapped(std::span<const double> values) {
  return Eigen::Map<const Vector>(values.data(), index_of(values.size()));
}

Vector triangle_of(const Vector& u) {
  Vector triangle(index_of(descent::triangle_size(static_cast<std::size_t>(u.size()))));
  descent::isometric_triangle({u.data(), static_cast<std::size_t>(u.size())},
                              {triangle.data(), static_cast<std::size_t>(triangle.size())});
  return triangle;
}

/// A row whose inputs are scaled down to R_x, in units of the radii.
struct Scaled {
  Vector inputs;
  Vector regressors;
  double target = 0;
  double beyond_inputs;      ///< length of the inputs in units of R_x; below 1 where they are shorter
  double beyond_regressors;  ///< length of the regressors' residuals in units of R_v
  double beyond_target;      ///< length of the target's residual in units of R_r
};

/// Scales the row by the length of its inputs alone, and clips the residuals of regressors by length and that of the
/// target by size.
Scaled scaled(const moments::Design& design, const Aim& aim, std::span<const double> row, double y, double weight) {
  const auto d = index_of(design.shape.inputs);
  // Weights come before the bounds, as in the lane, so that no weight widens what a row can do.
  const double root = std::sqrt(weight);
  const Vector x = root * mapped(row.first(design.shape.inputs));
  const double length = x.stableNorm();
  const double scale = length > aim.radii.inputs ? aim.radii.inputs / length : 1;
  Scaled result{scale * x / aim.radii.inputs, {}, 0, length / aim.radii.inputs, 0, 0};
  const auto residual = [&](std::size_t response, double value) {
    const Vector theta = mapped(std::span(aim.centre).subspan(response * design.shape.inputs, design.shape.inputs));
    return scale * (value - x.dot(theta));
  };
  result.regressors = Vector(index_of(design.shape.endogenous));
  for (std::size_t k = 0; k < design.shape.endogenous; ++k) {
    result.regressors(index_of(k)) = residual(k, root * row[static_cast<std::size_t>(d) + k]) / aim.radii.regressors;
  }
  result.beyond_regressors = result.regressors.stableNorm();
  if (result.beyond_regressors > 1) result.regressors /= result.beyond_regressors;
  // Where features are public, a row without a target adds to all blocks but those that read it.
  const double error = std::isfinite(y) ? residual(design.shape.endogenous, root * y) / aim.radii.target : 0;
  result.beyond_target = std::abs(error);
  result.target = std::clamp(error, -1.0, 1.0);
  return result;
}

Vector contribution_of(const moments::Design& design, moments::Block block, const Scaled& row) {
  switch (block) {
    case moments::Block::second:
      return triangle_of(row.inputs);
    case moments::Block::regressors:
      return (row.inputs * row.regressors.transpose()).reshaped();
    case moments::Block::target:
      return row.target * row.inputs;
    case moments::Block::spread:
    case moments::Block::eigenvalue:  // tables that are one step have them, and no game plays those
      break;
  }
  if (design.spread == moments::Spread::sandwich) return row.target * row.target * triangle_of(row.inputs);
  Vector residuals(row.regressors.size() + 1);
  residuals << row.regressors, row.target;
  return triangle_of(residuals) / (design.shape.endogenous > 0 ? 2 : 1);
}

/// How many radii long the block's row was before it was scaled or clipped.
double beyond(moments::Block block, const Scaled& row) {
  if (block == moments::Block::second) return row.beyond_inputs;
  if (block == moments::Block::regressors) return row.beyond_regressors;
  return row.beyond_target;
}

/// One unit of a block's radius, in working units.
double unit_of(const moments::Design& design, moments::Block block, const moments::Radii& radii) {
  switch (block) {
    case moments::Block::second:
      return radii.inputs * radii.inputs;
    case moments::Block::regressors:
      return radii.inputs * radii.regressors;
    case moments::Block::target:
      return radii.inputs * radii.target;
    case moments::Block::spread:
    case moments::Block::eigenvalue:
      break;
  }
  const bool is_sandwich = design.spread == moments::Spread::sandwich;
  return is_sandwich ? radii.target * radii.inputs * radii.target * radii.inputs : 1;
}

/// The gap about `centre`, computed from the gap about the centre of `before`: gap − H(centre − before's centre).
Vector moved_gap(const SeenSums& before, const std::vector<double>& centre) {
  Vector gap = mapped(before.gap);
  if (centre == before.aim.centre) return gap;
  std::size_t d = 0;
  while (descent::triangle_size(d) < before.second.size()) ++d;
  const std::vector<double> full = descent::symmetric_matrix(before.second, d);
  const Eigen::Map<const Eigen::MatrixXd> second(full.data(), index_of(d), index_of(d));
  const Vector distance = mapped(centre) - mapped(before.aim.centre);
  for (Eigen::Index first = 0; first < gap.size(); first += index_of(d)) {
    gap.segment(first, index_of(d)) -= second * distance.segment(first, index_of(d));
  }
  return gap;
}

}  // namespace

Aim aim_at_start(const moments::Settings& settings) {
  return {settings.stages.front().radii, settings.start};
}

std::vector<Contribution> contributions(const moments::Design& design, const Aim& aim, std::span<const double> x,
                                        double y, double weight) {
  const Scaled row = scaled(design, aim, x, y, weight);
  std::vector<Contribution> all;
  for (const moments::Block block : moments::noised_blocks(design)) {
    Vector added = contribution_of(design, block, row);
    // As in the lane, such a row contributes zeros.
    if (!added.allFinite()) added = Vector::Zero(added.size());
    // Rounding may leave a block just short of its radius, which counts as moved as far as can be.
    constexpr double nearly = 1 - 1e-9;
    const double norm = added.norm();
    all.push_back({std::move(added), norm >= nearly ? std::max(1.0, beyond(block, row)) : norm});
  }
  return all;
}

SeenSums seen_at_start(const moments::Settings& settings) {
  const moments::Design& design = settings.mechanism.design;
  return {0, aim_at_start(settings), std::vector<double>(moments::entries(design, moments::Block::second)),
          std::vector<double>(design.shape.coefficients()),
          std::vector<double>(moments::entries(design, moments::Block::spread))};
}

SeenSums seen_of(const moments::Lane& lane, moments::NormalEquations shown) {
  const moments::StageSums& last = lane.sums().stages().back();
  return {
      last.first, {last.radii, std::move(shown.centre)}, std::move(shown.second), std::move(shown.gap), last.spread};
}

std::vector<Eigen::VectorXd> noisy_sums(const moments::Settings& settings, const SeenSums& before,
                                        const SeenSums& after) {
  const moments::Design& design = settings.mechanism.design;
  const double every = static_cast<double>(settings.mechanism.participation.batch);
  const double kept = settings.memory ? 1 - every / static_cast<double>(*settings.memory) : 1;
  // Both gaps are about the new centre, so that their difference is what the step added.
  const Vector gap = mapped(after.gap) - kept * moved_gap(before, after.aim.centre);
  const auto regressors = index_of(design.shape.inputs * design.shape.endogenous);
  // A spread begins at 0 where a stage begins, because each stage of plain sums has its own. Sums that forget go on
  // with the spread before, except behind the first stage: its residuals were taken about the start.
  const bool from_zero = after.stage != before.stage && (!settings.memory || before.stage == 0);
  std::vector<Vector> all;
  for (const moments::Block block : moments::noised_blocks(design)) {
    const double unit = unit_of(design, block, after.aim.radii);
    if (block == moments::Block::second) all.push_back((mapped(after.second) - kept * mapped(before.second)) / unit);
    if (block == moments::Block::regressors) all.push_back(gap.head(regressors) / unit);
    if (block == moments::Block::target) all.push_back(gap.tail(gap.size() - regressors) / unit);
    if (block != moments::Block::spread) continue;
    all.push_back((mapped(after.spread) - (from_zero ? 0 : kept) * mapped(before.spread)) / unit);
  }
  return all;
}

}  // namespace nustream::audit
