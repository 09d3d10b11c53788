// The sampling part of covariances, from the spread of clipped residuals that recentred stages have summed with
// noise. Each form of spread is brought into working units first (residuals_of()). A tight sandwich is then enlarged
// by what its tighter bound took (scaled_up()).
#include "moments/sampling.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "inference/symmetric.h"
#include "moments/triangle.h"

namespace nustream::moments {
namespace {

/// E min(z², c²) of a normal z with deviation 1.
double within(double c) noexcept {
  const double beyond = std::erfc(c / std::numbers::sqrt2);
  const double density = std::exp(-c * c / 2) / std::sqrt(2 * std::numbers::pi);
  return c * c * beyond + (1 - beyond - 2 * c * density);
}

/// The c with E min(z², c²) = mean·c². The mean falls in c, from nearly 1 to nearly 0. Fifty halvings of twelve
/// octaves leave a relative error below 1e-14.
double bound_of(double mean) noexcept {
  double low = 0x1p-6;
  double high = 0x1p6;
  for (int i = 0; i < 50; ++i) {
    const double middle = std::sqrt(low * high);
    (within(middle) > mean * middle * middle ? low : high) = middle;
  }
  return low;
}

}  // namespace

double grown_within(double mean, double ratio) noexcept {
  // A mean near 1 says that nearly every residual is clipped; the bound would go to 0 and the factor to (ratio)².
  constexpr double largest_mean = 0.9;
  const double bound = bound_of(std::min(mean, largest_mean));
  return within(bound * std::max(ratio, 1.0)) / within(bound);
}

double share_beyond(double mean) noexcept {
  return std::erfc(bound_of(mean) / std::numbers::sqrt2);
}

namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// Σ_{begin ≤ j < end} κ^j.
double geometric(double kept, double begin, double end) {
  return kept == 1 ? end - begin : (std::pow(kept, begin) - std::pow(kept, end)) / (1 - kept);
}

}  // namespace

/// Sums over steps, each counted by κ to the power of its age: of all stages, of recentred ones, and of squares.
Weights weights_of(const RunningSums& sums, const Estimate& estimate, std::uint64_t steps) {
  const std::vector<StageSums>& stages = sums.stages();
  const double kept = sums.memory().kept;
  Weights weights;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const std::uint64_t end = s + 1 < stages.size() ? std::min(stages[s + 1].first, steps) : steps;
    const auto youngest = static_cast<double>(steps - end);
    const auto oldest = static_cast<double>(steps - std::min(stages[s].first, steps));
    const double own = geometric(kept, youngest, oldest);
    weights.all += own;
    if (stages[s].first > 0) weights.recentred += own;
    // Where sums forget, H goes on from stage to stage, that of the first stage included, while the first stage's
    // spread does not (RunningSums::begin_stage()).
    if (stages[s].first > 0 || sums.memory().forgets()) weights.second += own;
    // A record of age j is in the sums with the factor w_s κ^j, and its variance with the square of that.
    weights.squares += std::pow(estimate.weights[s], 2) * geometric(kept * kept, youngest, oldest);
  }
  return weights;
}

namespace {

/// The sum of residuals over recentred stages, in working units, and the H beside it.
struct Residuals {
  Matrix spread;  ///< responses × responses, or inputs × inputs of a sandwich
  Matrix second;
  double variance = 0;  ///< of the noise of that entry of the spread's diagonal which is the target's
  double squares = 0;   ///< Σ r² beside a tight sandwich, and the variance of its noise
  double squares_variance = 0;
  double tight = 0;  ///< the largest bounds of r̃ and of r
  double wide = 0;
};

/// Adds a stage's tight sandwich and Σ r² to `found`. Each was divided by √2 (BatchSums).
void add_tight_sandwich(const StageSums& stage, const Frame& frame, double covariance, Residuals& found) {
  const Radii& radii = stage.radii;
  const double unit = std::numbers::sqrt2 * std::pow(radii.tight_target * radii.inputs, 2);
  const double unit_of_squares = std::numbers::sqrt2 * radii.target * radii.target;
  if (!stage.spread.empty()) {
    const std::size_t d = frame.design.shape.inputs;
    found.spread += unit * full_matrix(std::span(stage.spread).first(stage.spread.size() - 1), d);
    found.second += full_matrix(stage.second, d);
    found.tight = std::max(found.tight, radii.tight_target);
    found.wide = std::max(found.wide, radii.target);
    found.squares += unit_of_squares * stage.spread.back();
  }
  found.variance += std::pow(unit * frame.noise.spread, 2) * covariance;
  found.squares_variance += std::pow(unit_of_squares * frame.noise.spread, 2) * covariance;
}

/// The scale that brings residuals of stage s into working units, as diag(scale)·spread·diag(scale).
Vector scale_of(const Frame& frame, const Radii& radii) {
  if (frame.design.spread == Spread::sandwich)
    return Vector::Ones(static_cast<Eigen::Index>(frame.design.shape.inputs));
  const std::size_t endogenous = frame.design.shape.endogenous;
  Vector scale = Vector::Constant(static_cast<Eigen::Index>(endogenous) + 1, radii.regressors);
  scale(scale.size() - 1) = radii.target;
  // With two clipped groups every contribution was halved (BatchSums); √2 on both sides undoes that.
  return endogenous > 0 ? Vector(std::sqrt(2.0) * scale) : scale;
}

/// The spread of all stages that can tell of it. Sums that forget have it in the newest stage alone, while the noise
/// of the stages before is still in it: so their noise counts, though their sums are empty.
Residuals residuals_of(const RunningSums& sums, const Frame& frame, std::span<const double> covariance,
                       std::uint64_t steps) {
  const std::vector<StageSums>& stages = sums.stages();
  const auto d = static_cast<Eigen::Index>(frame.design.shape.inputs);
  const bool sandwich = frame.design.spread == Spread::sandwich;
  const bool is_tight = frame.design.spread == Spread::tight_sandwich;
  const Eigen::Index size = sandwich || is_tight ? d : static_cast<Eigen::Index>(frame.design.shape.responses());
  Residuals found{Matrix::Zero(size, size), Matrix::Zero(d, d)};
  for (std::size_t s = 0; s < stages.size(); ++s) {
    // Residuals about the start are no estimate of the spread, so the first stage is left out.
    if (stages[s].first == 0 || stages[s].first >= steps) continue;
    if (is_tight) {
      add_tight_sandwich(stages[s], frame, covariance[s * stages.size() + s], found);
      continue;
    }
    const Vector scale = scale_of(frame, stages[s].radii);
    if (!stages[s].spread.empty()) {
      found.second += full_matrix(stages[s].second, static_cast<std::size_t>(d));
      found.spread +=
          scale.asDiagonal() * full_matrix(stages[s].spread, static_cast<std::size_t>(size)) * scale.asDiagonal();
    }
    const double last = scale(size - 1);
    const double unit = sandwich ? std::pow(stages[s].radii.target * stages[s].radii.inputs, 2) : last * last;
    found.variance += std::pow(unit * frame.noise.spread, 2) * covariance[s * stages.size() + s];
  }
  return found;
}

/// The tight sandwich S, enlarged by what its bound took from it. The factor is Σ r² divided by what S shows along
/// the constant, because Σ r² holds the tails that S lacks. Along an eigenvector of H^(−½) S H^(−½) in which S is
/// near its bound, the factor is at least that of normal residuals: a direction of a few rows, whose residuals are
/// wider, loses more.
Matrix grown(const Residuals& residuals, double factor) {
  const auto relative = inference::relative_spectrum(residuals.spread, residuals.second);
  if (!relative) return residuals.spread * factor;
  const double bound = residuals.tight * residuals.tight;
  const Vector larger = relative->spectrum.values.unaryExpr([&](double square) {
    const double own = square > 0 ? grown_within(square / bound, residuals.wide / residuals.tight) : 1;
    return square * std::max(own, factor);
  });
  return relative->root * relative->spectrum.with(larger) * relative->root;
}

/// The meat from a tight sandwich. Empty where noise leaves no residuals along the constant, or no Σ r².
std::optional<Meat> scaled_up(const Residuals& residuals, const Frame& frame, double share) {
  const Eigen::Map<const Vector> constant(frame.constant.data(), static_cast<Eigen::Index>(frame.constant.size()));
  if (constant.size() != residuals.spread.rows()) return std::nullopt;
  // Along the constant x is 1, so this is Σ r̃² of the tight bound, to compare with Σ r².
  const double seen = constant.dot(residuals.spread * constant);
  if (!(seen > 0 && residuals.squares > 0)) return std::nullopt;
  const double factor = std::max(1.0, residuals.squares / seen);
  const double stddev = std::sqrt(residuals.variance);
  const double relative =
      std::hypot(std::sqrt(residuals.squares_variance) / residuals.squares, stddev * constant.squaredNorm() / seen);
  return Meat{share * grown(residuals, factor), share * stddev * factor, relative};
}

}  // namespace

std::optional<Meat> meat_of(const RunningSums& sums, const Frame& frame, std::span<const double> covariance,
                            const Estimate& estimate, std::span<const double> combination, std::uint64_t steps) {
  if (frame.design.spread == Spread::none) return std::nullopt;
  const Weights weights = weights_of(sums, estimate, steps);
  if (!(weights.recentred > 0)) return std::nullopt;
  const Residuals residuals = residuals_of(sums, frame, covariance, steps);
  // The spread was summed over recentred stages, while the estimate adds up all stages with squared weights.
  const double share = weights.squares / weights.recentred;
  const double stddev = std::sqrt(residuals.variance) * share;
  if (frame.design.spread == Spread::tight_sandwich) return scaled_up(residuals, frame, share);
  if (frame.design.spread == Spread::sandwich) return Meat{residuals.spread * share, stddev};
  // A constant 1 counts the usable rows. Without one all records are taken to be usable.
  double records = weights.second * static_cast<double>(frame.every);
  if (!frame.constant.empty()) {
    const Eigen::Map<const Vector> constant(frame.constant.data(), residuals.second.rows());
    records = constant.dot(residuals.second * constant);
  }
  if (!(records > 0)) return std::nullopt;
  const Matrix of_one = residuals.second / records;  // the mean of x xᵀ over the usable rows
  const Eigen::Map<const Vector> a(combination.data(), static_cast<Eigen::Index>(combination.size()));
  return Meat{a.dot(residuals.spread * a) * share * of_one, stddev * of_one.norm()};
}

}  // namespace nustream::moments
