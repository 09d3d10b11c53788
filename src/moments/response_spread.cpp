// What the noisy sums tell of residuals' variances in models with instruments: an estimate from recentred stages or,
// before there is one, from the first stage moved to θ̂ (about_estimate()); otherwise the bound that clipping gives.
// Only noisy sums are read.
#include "moments/response_spread.h"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "moments/sampling.h"
#include "moments/triangle.h"
#include "nustream/base/error.h"

namespace nustream::moments {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// With fewer than this an estimated variance is too uncertain, as it is for intervals.
constexpr double fewest_degrees = 8;

/// The bounds of the residuals: of each regressor, then of the target.
Vector bounds_of(const Shape& shape, const Radii& radii) {
  Vector bounds = Vector::Constant(static_cast<Eigen::Index>(shape.responses()), radii.regressors);
  bounds(bounds.size() - 1) = radii.target;
  return bounds;
}

/// One column for each response, as coefficients are kept.
Matrix by_response(std::span<const double> entries, const Shape& shape) {
  return Eigen::Map<const Matrix>(entries.data(), static_cast<Eigen::Index>(shape.inputs),
                                  static_cast<Eigen::Index>(shape.responses()));
}

/// Σ rrᵀ of a stage with what noise leaves uncertain of it. In units of the bounds, where aᵀa = 1 of a combination a,
/// `variance` bounds the noise of aᵀ(Σ rrᵀ)a.
struct Squares {
  Matrix value;  // in working units
  double variance;
};

/// In units of the stage's bounds. The 2 undoes the halving of contributions, as the scale of about_centre() does.
double noise_about_centre(const Frame& frame, double covariance) {
  return std::pow(2 * frame.noise.spread, 2) * covariance;
}

/// The residuals about the stage's centre.
Squares about_centre(const StageSums& stage, const Frame& frame, double covariance) {
  const Shape& shape = frame.design.shape;
  // With two clipped groups every contribution was halved (BatchSums); √2 on both sides undoes that.
  const Vector scale = std::numbers::sqrt2 * bounds_of(shape, stage.radii);
  return {scale.asDiagonal() * full_matrix(stage.spread, shape.responses()) * scale.asDiagonal(),
          noise_about_centre(frame, covariance)};
}

/// The residuals about θ̂, from those about the stage's centre. What noise of G and of H adds is first order in the
/// noise: θ̂ makes aᵀ(Σ rrᵀ)a least, so its own error enters in the second order alone.
Squares about_estimate(const StageSums& stage, const Frame& frame, double covariance, const Estimate& estimate) {
  const Shape& shape = frame.design.shape;
  Squares squares = about_centre(stage, frame, covariance);
  const Matrix away = by_response(estimate.theta, shape) - by_response(stage.centre, shape);
  const Matrix gap = away.transpose() * by_response(stage.cross, shape);
  squares.value += away.transpose() * full_matrix(stage.second, shape.inputs) * away - gap - gap.transpose();
  const double distance = (away * bounds_of(shape, stage.radii).cwiseInverse().asDiagonal()).norm();
  const double inputs = stage.radii.inputs;
  const double cross = 2 * distance * inputs * std::max(frame.noise.regressors, frame.noise.target);
  const double second = std::pow(distance * inputs, 2) * frame.noise.second;
  squares.variance += (cross * cross + second * second) * covariance;
  return squares;
}

/// H⁻¹ rows H⁻¹.
Matrix between(const Eigen::LLT<Matrix>& second, const Matrix& rows) {
  const Matrix half = second.solve(rows);
  return second.solve(half.transpose());
}

/// The sums of those stages that tell of the spread: the recentred ones, or, where there is none yet, the first.
struct Told {
  Matrix square;
  Matrix second;
  double variance = 0;
};
Told told(const RunningSums& sums, const Frame& frame, std::span<const double> covariance, const Estimate& estimate,
          std::uint64_t steps, bool is_recentred) {
  const std::vector<StageSums>& stages = sums.stages();
  const Shape& shape = frame.design.shape;
  const auto d = static_cast<Eigen::Index>(shape.inputs);
  const Vector last = bounds_of(shape, stages.back().radii);
  Told found;
  found.square.setZero(last.size(), last.size());
  found.second.setZero(d, d);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const StageSums& stage = stages[s];
    if (is_recentred == (stage.first == 0) || stage.first >= steps) continue;
    const double own = covariance[s * stages.size() + s];
    // Variances are in units of the newest bounds: a stage whose bounds are twice as wide has 2⁴ times the noise
    // variance, as squares of residuals were summed.
    const double wider = std::pow(bounds_of(shape, stage.radii).cwiseQuotient(last).maxCoeff(), 4);
    if (stage.spread.empty()) {  // it was moved on into a later stage
      found.variance += wider * noise_about_centre(frame, own);
      continue;
    }
    const Squares squares =
        is_recentred ? about_centre(stage, frame, own) : about_estimate(stage, frame, own, estimate);
    found.variance += wider * squares.variance;
    found.square += squares.value;
    found.second += full_matrix(stage.second, shape.inputs);
  }
  return found;
}

/// The estimate, where Σ rrᵀ is kept and a usable row is known of.
std::optional<ResponseSpread::Estimated> estimated(const RunningSums& sums, const Frame& frame,
                                                   std::span<const double> covariance, const Estimate& estimate,
                                                   const Eigen::LLT<Matrix>& second, std::uint64_t steps) {
  const Weights weights = weights_of(sums, estimate, steps);
  const bool is_recentred = weights.recentred > 0;
  const Told found = told(sums, frame, covariance, estimate, steps, is_recentred);
  // A constant 1 counts the usable rows. Without one all records are taken to be usable.
  double records = (is_recentred ? weights.second : weights.all) * static_cast<double>(frame.every);
  if (!frame.constant.empty()) {
    const Eigen::Map<const Vector> constant(frame.constant.data(), found.second.rows());
    records = constant.dot(found.second * constant);
  }
  if (!(records > 0)) return std::nullopt;
  // Brings the sums of the stages that tell to the weights with which all stages are in the estimate.
  const double share = weights.squares / (is_recentred ? weights.recentred : weights.all);
  return ResponseSpread::Estimated{found.square, bounds_of(frame.design.shape, sums.stages().back().radii),
                                   found.variance, between(second, share / records * found.second)};
}

/// ∞ without noise, and 0 where noise leaves no variance.
double degrees_of_estimate(const ResponseSpread::Estimated& estimated, const Vector& a) {
  const double value = a.dot(estimated.square * a);
  const double length = a.cwiseProduct(estimated.bounds).squaredNorm();
  return value > 0 ? 2 * value * value / (length * length * estimated.variance) : 0;
}

/// Residuals of all stages are in the sums, so what bounds their variance is the widest bound of any stage.
Vector largest_bounds(const RunningSums& sums, const Shape& shape) {
  Vector bounds = bounds_of(shape, sums.stages().front().radii);
  for (const StageSums& stage : sums.stages()) bounds = bounds.cwiseMax(bounds_of(shape, stage.radii));
  return bounds;
}

}  // namespace

bool ResponseSpread::is_bounded(const Vector& a) const {
  return !estimated || degrees_of_estimate(*estimated, a) < fewest_degrees;
}

double ResponseSpread::degrees(const Vector& a) const {
  return is_bounded(a) ? std::numeric_limits<double>::infinity() : degrees_of_estimate(*estimated, a);
}

Matrix ResponseSpread::sampling(const Vector& a) const {
  if (is_bounded(a)) return std::pow(a.cwiseAbs().dot(bounds), 2) * of_bound;
  return a.dot(estimated->square * a) * estimated->of_square;
}

std::optional<ResponseSpread> response_spread(const RunningSums& sums, const Frame& frame,
                                              std::span<const double> covariance, const Estimate& estimate,
                                              StepCount steps) {
  NUSTREAM_REQUIRE(frame.design.shape.endogenous > 0, "a spread of responses is of a model with instruments");
  if (estimate.floored > 0) return std::nullopt;
  const NormalEquations whole = combined(frame.design, sums.stages(), estimate.weights);
  const Eigen::LLT<Matrix> second(full_matrix(whole.second, whole.dimension));
  if (second.info() != Eigen::Success) return std::nullopt;
  const Weights weights = weights_of(sums, estimate, steps.value());
  Matrix all = Matrix::Zero(second.rows(), second.rows());
  for (const StageSums& stage : sums.stages()) {
    if (!stage.second.empty()) all += full_matrix(stage.second, whole.dimension);
  }
  std::optional<ResponseSpread::Estimated> of_squares;
  if (frame.design.spread == Spread::residuals) {
    of_squares = estimated(sums, frame, covariance, estimate, second, steps.value());
  }
  return ResponseSpread{std::move(of_squares), largest_bounds(sums, frame.design.shape),
                        between(second, weights.squares / weights.all * all)};
}

}  // namespace nustream::moments
