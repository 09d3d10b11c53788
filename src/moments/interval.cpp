// Covariances of θ̂: the part of privacy noise from the noise of all stages (privacy_of()), the part of sampling from
// the released spread (sampling.h), and both together as variances of directions. All of it is computed from noisy
// sums and public figures, so intervals cost nothing.
#include "nustream/moments/interval.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <utility>

#include "inference/symmetric.h"
#include "moments/sampling.h"
#include "moments/triangle.h"
#include "nustream/base/error.h"

namespace nustream::moments {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// With fewer than this an estimated variance is too uncertain for an interval.
constexpr double fewest_degrees_of_freedom = 8;

/// The distance of a stage's centre from θ̂ in a combination of the responses: Σ_k a_k (θ_s − θ̂)_k.
Vector distance_of(const StageSums& stage, const Estimate& estimate, std::span<const double> combination) {
  const std::size_t d = estimate.theta.size() / combination.size();
  Vector distance = Vector::Zero(static_cast<Eigen::Index>(d));
  for (std::size_t entry = 0; entry < estimate.theta.size(); ++entry) {
    const double away = stage.centre[entry] - estimate.theta[entry];
    distance(static_cast<Eigen::Index>(entry % d)) += combination[entry / d] * away;
  }
  return distance;
}

/// The variance of an entry of Σ_k a_k g_k where one seed noise enters stage i and another, or the same, stage j.
double cross_noise(const Frame& frame, const Radii& one, const Radii& other, std::span<const double> combination) {
  double regressors = 0;
  for (const double weight : combination.first(combination.size() - 1)) regressors += weight * weight;
  const double of_regressors = std::pow(frame.noise.regressors, 2) * one.regressors * other.regressors;
  const double of_target = std::pow(frame.noise.target, 2) * one.target * other.target;
  return one.inputs * other.inputs * (regressors * of_regressors + std::pow(combination.back(), 2) * of_target);
}

/// D of a stage: the shares of its scales, by which its noise is multiplied on both sides.
Vector shares_of(const std::vector<StageSums>& stages, std::size_t stage, std::size_t inputs) {
  Vector shares(static_cast<Eigen::Index>(inputs));
  for (std::size_t j = 0; j < inputs; ++j) shares(static_cast<Eigen::Index>(j)) = share_of_scale(stages, stage, j);
  return shares;
}

/// The Q of privacy_covariance(), for a combination of the responses.
Matrix noise_of_gap(const RunningSums& sums, const Frame& frame, std::span<const double> covariance,
                    const Estimate& estimate, std::span<const double> combination) {
  const std::vector<StageSums>& stages = sums.stages();
  const auto size = static_cast<Eigen::Index>(frame.design.shape.inputs);
  Matrix noise = Matrix::Zero(size, size);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const Vector own = shares_of(stages, i, frame.design.shape.inputs);
    const Vector one = own.cwiseProduct(distance_of(stages[i], estimate, combination));
    for (std::size_t j = 0; j < stages.size(); ++j) {
      const Vector others = shares_of(stages, j, frame.design.shape.inputs);
      const Vector other = others.cwiseProduct(distance_of(stages[j], estimate, combination));
      const double shared = estimate.weights[i] * estimate.weights[j] * covariance[i * stages.size() + j];
      const double inputs = stages[i].radii.inputs * stages[j].radii.inputs;
      // Cov(Nu, Nv) = ½((uᵀv) I + v uᵀ) for symmetric noise N with unit variance on its diagonal and ½ beside it. The
      // sums hold D_i N D_i, so that u = D_i δ_i, and D_i and D_j are left beside the covariance.
      const double tau = frame.noise.second;
      const double second = 0.5 * std::pow(tau * inputs, 2);
      noise += shared * second * own.cwiseProduct(other) * others.cwiseProduct(one).transpose();
      noise.diagonal().array() +=
          shared * (second * one.dot(other) + cross_noise(frame, stages[i].radii, stages[j].radii, combination)) *
          own.array() * others.array();
    }
  }
  return (noise + noise.transpose()) / 2;
}

/// The combination of responses that is one of them.
std::vector<double> alone(const Shape& shape, std::size_t response) {
  std::vector<double> combination(shape.responses());
  combination.at(response) = 1;
  return combination;
}

}  // namespace

std::optional<Matrix> privacy_of(const RunningSums& sums, const Frame& frame, std::span<const double> covariance,
                                 const Estimate& estimate, std::span<const double> combination) {
  NUSTREAM_REQUIRE(combination.size() == frame.design.shape.responses(), "a weight for every response");
  if (estimate.floored > 0) return std::nullopt;
  const NormalEquations whole = combined(frame.design, sums.stages(), estimate.weights);
  const Eigen::LLT<Matrix> second(full_matrix(whole.second, whole.dimension));
  if (second.info() != Eigen::Success) return std::nullopt;
  const Matrix half = second.solve(noise_of_gap(sums, frame, covariance, estimate, combination));
  return Matrix(second.solve(half.transpose()));
}

/// Here the eigenvalues are raised as in solve(), so that there is always an answer: shrunken_centre() must judge an
/// estimate that is floored, too.
Matrix floored_privacy_of(const RunningSums& sums, const Frame& frame, std::span<const double> covariance,
                          const Estimate& estimate, std::span<const double> combination) {
  const NormalEquations whole = combined(frame.design, sums.stages(), estimate.weights);
  const inference::SymmetricSpectrum spectrum =
      inference::symmetric_spectrum(full_matrix(whole.second, whole.dimension));
  // Without noise the floor is 0, and a singular H would give infinities.
  const double least = std::max(estimate.floor, 1e-10 * spectrum.values.cwiseAbs().maxCoeff());
  const Vector inverse = spectrum.values.cwiseMax(least).cwiseInverse();
  const Matrix solver = spectrum.vectors * inverse.asDiagonal() * spectrum.vectors.transpose();
  return solver * noise_of_gap(sums, frame, covariance, estimate, combination) * solver;
}

std::optional<Matrix> covariance_of(const RunningSums& sums, const Frame& frame, std::span<const double> covariance,
                                    const Estimate& estimate, std::span<const double> combination, StepCount steps) {
  const auto privacy = privacy_of(sums, frame, covariance, estimate, combination);
  const auto meat = meat_of(sums, frame, covariance, estimate, combination, steps.value());
  if (!privacy || !meat) return std::nullopt;
  const NormalEquations whole = combined(frame.design, sums.stages(), estimate.weights);
  const Eigen::LLT<Matrix> second(full_matrix(whole.second, whole.dimension));
  const Matrix half = second.solve(meat->value);
  return Matrix(*privacy + second.solve(half.transpose()));
}

std::optional<std::vector<double>> privacy_covariance(const RunningSums& sums, const Frame& frame,
                                                      std::span<const double> covariance, const Estimate& estimate,
                                                      std::size_t response) {
  const auto found = privacy_of(sums, frame, covariance, estimate, alone(frame.design.shape, response));
  if (!found) return std::nullopt;
  return std::vector<double>{found->data(), found->data() + found->size()};
}

std::optional<std::vector<inference::EstimatedVariance>> target_variances(const RunningSums& sums, const Frame& frame,
                                                                          std::span<const double> covariance,
                                                                          const Estimate& estimate, StepCount steps,
                                                                          std::span<const double> directions) {
  const std::vector<double> target = alone(frame.design.shape, frame.design.shape.endogenous);
  const auto privacy = privacy_of(sums, frame, covariance, estimate, target);
  const auto meat = meat_of(sums, frame, covariance, estimate, target, steps.value());
  if (!privacy || !meat) return std::nullopt;
  const NormalEquations whole = combined(frame.design, sums.stages(), estimate.weights);
  const auto d = static_cast<Eigen::Index>(whole.dimension);
  const Matrix inverse = full_matrix(whole.second, whole.dimension).llt().solve(Matrix::Identity(d, d));
  // The floor is √(2d) times this deviation of a diagonal entry.
  const double second_stddev = estimate.floor / std::sqrt(2 * static_cast<double>(d));
  NUSTREAM_REQUIRE(directions.size() % static_cast<std::size_t>(d) == 0, "a direction has a number for every input");
  std::vector<inference::EstimatedVariance> variances;
  for (std::size_t from = 0; from < directions.size(); from += static_cast<std::size_t>(d)) {
    const Eigen::Map<const Vector> direction(directions.data() + from, d);
    const Vector solved = inverse * direction;
    const Vector scored = meat->value * solved;
    const double sampling = solved.dot(scored);
    const double own = direction.dot(*privacy * direction);
    // The noise E of H moves the variance by d(aᵀH⁻¹SH⁻¹a) = −2 aᵀH⁻¹ E H⁻¹SH⁻¹a, and likewise for Q. The standard
    // deviation of uᵀEv is at most ‖u‖‖v‖ times that of E's diagonal.
    const double lengths = (inverse * scored).norm() + (*privacy * direction).norm();
    const double by_second = 2 * second_stddev * solved.norm() * lengths;
    const double by_meat = std::hypot(meat->stddev * solved.squaredNorm(), meat->relative * sampling);
    const double error = std::hypot(by_second, by_meat) / (sampling + own);
    // Satterthwaite: an estimate with the relative standard deviation `error` varies as a χ² of 2/error² degrees of
    // freedom does.
    const double degrees = 2 / (error * error);
    // One direction without a variance withholds them all.
    if (!(sampling > 0) || !(degrees >= fewest_degrees_of_freedom)) return std::nullopt;
    variances.push_back({sampling + own, degrees});
  }
  return variances;
}

std::optional<std::vector<inference::EstimatedVariance>> target_variances(const RunningSums& sums, const Frame& frame,
                                                                          std::span<const double> covariance,
                                                                          const Estimate& estimate, StepCount steps) {
  const std::size_t d = frame.design.shape.inputs;
  std::vector<double> unit_vectors(d * d);
  for (std::size_t j = 0; j < d; ++j) unit_vectors[j * d + j] = 1;
  return target_variances(sums, frame, covariance, estimate, steps, unit_vectors);
}

}  // namespace nustream::moments
