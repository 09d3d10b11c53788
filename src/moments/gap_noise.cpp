// Adds up what the noise of all stages leaves in released normal equations, and carries it to other centres and to
// solutions. The formulas are those of the header; `one` and `other` stand for its δ_i and δ_j.
#include "nustream/moments/gap_noise.h"

#include <Eigen/Core>
#include <Eigen/LU>

#include <cmath>

#include "moments/triangle.h"
#include "nustream/base/error.h"

namespace nustream::moments {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

Vector vector_of(std::span<const double> entries) {
  return Eigen::Map<const Vector>(entries.data(), static_cast<Eigen::Index>(entries.size()));
}

std::vector<double> entries_of(const Matrix& matrix) {
  return {matrix.data(), matrix.data() + matrix.size()};
}

/// ½((uᵀu) I + uuᵀ), where `square` is E uuᵀ, with `variance` added on the diagonal.
std::vector<double> spread_out(const Matrix& square, double variance) {
  Matrix noise = square / 2;
  noise.diagonal().array() += square.trace() / 2 + variance;
  return entries_of(noise);
}

}  // namespace

GapNoise gap_noise(const RunningSums& sums, const Frame& frame, std::span<const double> covariance,
                   const Estimate& estimate) {
  NUSTREAM_REQUIRE(frame.design.shape.endogenous == 0, "the noise of one target's moments");
  const std::vector<StageSums>& stages = sums.stages();
  const auto d = static_cast<Eigen::Index>(frame.design.shape.inputs);
  const Vector centre = vector_of(stages.back().centre);
  GapNoise noise;
  Vector moved = Vector::Zero(d);
  Matrix spread = Matrix::Zero(d, d);
  // The gap of stage i is moved to the last centre by H_i (c_i − c), and so the noise of H_i enters it with that
  // distance.
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const Vector one = vector_of(stages[i].centre) - centre;
    for (std::size_t j = 0; j < stages.size(); ++j) {
      const Vector other = vector_of(stages[j].centre) - centre;
      const double shared = estimate.weights[i] * estimate.weights[j] * covariance[i * stages.size() + j];
      const double inputs = stages[i].radii.inputs * stages[j].radii.inputs;
      const double second = shared * frame.noise.second * frame.noise.second * inputs * inputs;
      noise.second += second;
      noise.target +=
          shared * frame.noise.target * frame.noise.target * inputs * stages[i].radii.target * stages[j].radii.target;
      moved += second * one;
      spread += second * one * other.transpose();
    }
  }
  noise.moved.assign(moved.data(), moved.data() + moved.size());
  // Each pair of stages came in both orders, so the sum is symmetric but for rounding.
  noise.spread = isometric((spread + spread.transpose()) / 2);
  return noise;
}

GapNoise added(std::span<const GapNoise> noises, std::span<const NormalEquations> parts) {
  NUSTREAM_REQUIRE(!noises.empty() && noises.size() == parts.size(), "every part has its noise");
  const std::size_t d = parts.front().dimension;
  GapNoise whole;
  Vector moved = Vector::Zero(static_cast<Eigen::Index>(d));
  Matrix spread = Matrix::Zero(static_cast<Eigen::Index>(d), static_cast<Eigen::Index>(d));
  for (std::size_t i = 0; i < noises.size(); ++i) {
    // A part's gap is moved to the first part's centre by H·away, and so the noise of the part's H enters the gap.
    const Vector away = vector_of(parts[i].centre) - vector_of(parts.front().centre);
    const Vector own = vector_of(noises[i].moved);
    whole.second += noises[i].second;
    whole.target += noises[i].target;
    moved += own + noises[i].second * away;
    spread += full_matrix(noises[i].spread, d) + own * away.transpose() + away * own.transpose() +
              noises[i].second * away * away.transpose();
  }
  whole.moved.assign(moved.data(), moved.data() + moved.size());
  whole.spread = isometric(spread);
  return whole;
}

std::vector<double> noise_covariance(const GapNoise& noise, std::span<const double> away) {
  const Vector moved = vector_of(noise.moved);
  const Vector to = vector_of(away);
  // E uuᵀ of the distances u = δ − a between the stages' centres and θ_c + a, weighted by the variances of their H.
  const Matrix square = full_matrix(noise.spread, away.size()) - moved * to.transpose() - to * moved.transpose() +
                        noise.second * to * to.transpose();
  return spread_out(square, noise.target);
}

std::vector<double> noise_covariance_of_second(const GapNoise& noise, std::span<const double> direction) {
  const Vector along = vector_of(direction);
  return spread_out(noise.second * along * along.transpose(), 0);
}

std::vector<double> solution_covariance(const NormalEquations& equations, std::span<const double> covariance,
                                        std::span<const std::size_t> features) {
  NUSTREAM_REQUIRE(equations.dimension == features.size(), "equations of these features");
  const auto all = static_cast<Eigen::Index>(std::llround(std::sqrt(static_cast<double>(covariance.size()))));
  const Eigen::Map<const Matrix> noise(covariance.data(), all, all);
  const std::vector<Eigen::Index> chosen(features.begin(), features.end());
  // Noise may make H indefinite, so a factorisation for positive definite matrices would not do here.
  const Eigen::FullPivLU<Matrix> second(full_matrix(equations.second, equations.dimension));
  // H⁻¹Q, and below H⁻¹(H⁻¹Q)ᵀ, which is H⁻¹QH⁻¹ as both are symmetric.
  const Matrix half = second.solve(noise(chosen, chosen));
  return entries_of(second.solve(half.transpose()));
}

}  // namespace nustream::moments
