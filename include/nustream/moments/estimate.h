// Computes the estimate of a release from the sums of all stages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/moments/normal_equations.h"
#include "nustream/moments/running_sums.h"
#include "nustream/moments/stage_noise.h"

namespace nustream::moments {

/// σΔ of each block's seed noise in units of its radius; 0 for a block that has no noise or does not exist.
struct BlockNoise {
  double second = 0;
  double regressors = 0;
  double target = 0;
  double spread = 0;
  double eigenvalue = 0;
};
/// The noise that follows from the multipliers of the noised blocks, in their order. Throws InvalidParameter for
/// another number of them.
[[nodiscard]] BlockNoise block_noise(const Design& design, const std::vector<NoiseMultiplier>& sigmas);

/// How much each stage counts.
struct Weighting {
  /// If it is empty, all stages count alike, w_s = 1: the target is then the least squares of all records, whatever
  /// drifts. Otherwise it is σ², the public guess of the residuals' variance of a stationary stream, and w_s =
  /// n_sσ²/(n_sσ² + v_s). n_s is the mean eigenvalue of the stage's H, and v_s the noise variance of a coordinate of
  /// g_s + H_s(θ_s − θ̂). Without such weights the noise of an early stage's H, times the distance from its centre,
  /// would never go away.
  std::optional<double> residual_variance;
};

/// What the sums are made with, apart from the sums themselves.
struct Frame {
  Design design;
  BlockNoise noise;
  Weighting weighting;
  std::uint64_t every = 1;  ///< records of a step
  /// A combination of the inputs that is 1 in every usable row, so that the sums tell how many usable rows there are.
  /// Empty: there is no such combination.
  std::vector<double> constant{};
};

/// All stages as one system about the centre of the last one: H = Σ w_s H_s, gap = Σ w_s(g_s + H_s(θ_s − θ_c)).
[[nodiscard]] NormalEquations combined(const Design& design, std::span<const StageSums> stages,
                                       std::span<const double> weights);

/// θ̂ and what it was computed with.
struct Estimate {
  std::vector<double> theta;    ///< inputs × responses, column by column
  std::vector<double> weights;  ///< weights of the stages
  double floor;                 ///< λ = √(2d)·τ
  /// How many eigenvalues of H are below the floor, or, with an adaptive ridge, how many of H + ridge·I are not
  /// positive. In those directions the answer is a guess, and must be marked as one.
  std::size_t floored;
  std::optional<double> ridge{};  ///< inference::adaptive_ridge(): added to H's diagonal instead of a floor
};

/// The noise covariances of the sums of stages after `steps` steps, per unit of the seed noise's variance.
[[nodiscard]] std::vector<double> stage_covariance(const RunningSums& sums, const StageNoise& noise, StepCount steps);

/// The estimate after at least one step. `covariance` is what stage_covariance() gives at this step. It uses noisy
/// sums and public settings, and nothing else. For one stage it is θ_c + H⁻¹ g; with an adaptive ridge it is θ_c + (H
/// + λI)⁻¹ g. Where scales have grown it is in the units of the newest stage: θ̂_j divided by that stage's scale of
/// input j is in working units.
[[nodiscard]] Estimate estimate(const RunningSums& sums, const Frame& frame, std::span<const double> covariance);

}  // namespace nustream::moments
