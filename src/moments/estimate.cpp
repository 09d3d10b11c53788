// The estimate of a release: all stages become one system about the newest centre (combined()), weighted by how much
// each informs, and the system is solved with its eigenvalues raised to a floor, which noise alone seldom exceeds.
// The floor and the weights read noisy sums, noise covariances and public settings alone, so no part of this costs
// privacy.
#include "nustream/moments/estimate.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "moments/triangle.h"
#include "nustream/base/error.h"
#include "nustream/inference/adassp.h"
#include "nustream/moments/budget.h"

namespace nustream::moments {
namespace {

/// For each input the shares of its scale by stage (share_of_scale()), each different list once.
std::vector<std::vector<double>> different_shares(const std::vector<StageSums>& stages, std::size_t inputs) {
  std::vector<std::vector<double>> all;
  for (std::size_t input = 0; input < inputs; ++input) {
    std::vector<double> own;
    for (std::size_t s = 0; s < stages.size(); ++s) own.push_back(share_of_scale(stages, s, input));
    if (std::ranges::find(all, own) == all.end()) all.push_back(std::move(own));
  }
  return all;
}

/// τ, the standard deviation of a diagonal entry of Σ w_s H_s. Where scales have grown, the noise of earlier stages
/// is smaller in the entries of those inputs, and need no longer cancel that of later ones. Of all entries, the
/// largest figure is then taken; beside the diagonal it is √2 times the entry's own.
double second_stddev(const std::vector<StageSums>& stages, std::size_t inputs, const BlockNoise& noise,
                     std::span<const double> covariance, std::span<const double> weights) {
  const std::size_t count = stages.size();
  const std::vector<std::vector<double>> shares = different_shares(stages, inputs);
  double largest = 0;
  for (std::size_t p = 0; p < shares.size(); ++p) {
    for (std::size_t q = 0; q <= p; ++q) {
      const auto scale = [&](std::size_t i) {
        return weights[i] * stages[i].radii.inputs * stages[i].radii.inputs * (shares[p][i] * shares[q][i]);
      };
      double variance = 0;
      for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = 0; j < count; ++j) variance += scale(i) * scale(j) * covariance[i * count + j];
      }
      largest = std::max(largest, variance);
    }
  }
  return noise.second * std::sqrt(largest);
}

/// v_s, the noise variance of stage s as a mean over the coordinates. Cov(Nδ) = ½(‖δ‖² I + δδᵀ) for symmetric noise N
/// of unit variance on its diagonal. The sums hold DND, where D are the shares of the stage's scales.
double noise_variance(const Frame& frame, const std::vector<StageSums>& stages, std::size_t s, double variance,
                      std::span<const double> theta) {
  const StageSums& stage = stages[s];
  const std::size_t d = frame.design.shape.inputs;
  const std::size_t target = frame.design.shape.endogenous * d;
  double shares = 0;    // Σ D²
  double squares = 0;   // ‖Dδ‖²
  double diagonal = 0;  // ‖D²δ‖²
  for (std::size_t j = 0; j < d; ++j) {
    const double share = share_of_scale(stages, s, j);
    const double away = stage.centre[target + j] - theta[target + j];
    shares += share * share;
    squares += std::pow(share * away, 2);
    diagonal += std::pow(share * share * away, 2);
  }
  const auto inputs = static_cast<double>(d);
  const double of_second = stage.radii.inputs * stage.radii.inputs * frame.noise.second;
  const double of_target = stage.radii.inputs * stage.radii.target * frame.noise.target;
  // Without grown scales all shares are 1, and `mean` is 1 too.
  const double mean = shares / inputs;
  // At a centre that is the solution itself the quotient would be 0/0.
  const double spread = squares > 0 ? 0.5 * squares * (mean + diagonal / squares / inputs) : 0;
  return variance * (mean * of_target * of_target + of_second * of_second * spread);
}

/// tr H/d, never below 0: noise may make the trace negative. Row i of the triangle has d − i entries, so that the
/// next diagonal entry comes that much later.
double mean_eigenvalue(const StageSums& stage, std::size_t dimension) {
  double trace = 0;
  std::size_t diagonal = 0;
  for (std::size_t i = 0; i < dimension; ++i) {
    trace += stage.second[diagonal];
    diagonal += dimension - i;
  }
  return std::max(trace / static_cast<double>(dimension), 0.0);
}

/// w_s = n_sσ²/(n_sσ² + v_s), with n_s the mean eigenvalue of the stage's H: how much a stage informs, against the
/// noise that its distance from the solution brings in.
std::vector<double> precision_weights(const RunningSums& sums, const Frame& frame, std::span<const double> covariance,
                                      std::span<const double> theta) {
  const std::vector<StageSums>& stages = sums.stages();
  std::vector<double> weights;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const double informs = mean_eigenvalue(stages[s], frame.design.shape.inputs) * *frame.weighting.residual_variance;
    const double noise = noise_variance(frame, stages, s, covariance[s * stages.size() + s], theta);
    weights.push_back(informs > 0 ? informs / (informs + noise) : 0.0);
  }
  // A stage that is all noise gets no weight. If all stages are noise, the last one gets the weight, because its
  // centre is the best.
  if (std::ranges::all_of(weights, [](double weight) { return weight == 0; })) weights.back() = 1;
  return weights;
}

/// The solution with an adaptive ridge, which has one stage of one step. An eigenvalue that noise leaves negative or
/// 0 in spite of the ridge counts as floored.
Estimate ridged(const RunningSums& sums, const Frame& frame, double deviation, double floor) {
  const StageSums& stage = sums.stages().front();
  const double unit = stage.radii.inputs * stage.radii.inputs;
  // The eigenvalue's noise is in units of R_x², as the sums' is.
  const double ridge = inference::adaptive_ridge(frame.design.shape.inputs, deviation,
                                                 {stage.eigenvalue.front(), frame.noise.eigenvalue * unit});
  NormalEquations equations = combined(frame.design, sums.stages(), std::vector<double>{1});
  std::size_t diagonal = 0;
  for (std::size_t i = 0; i < equations.dimension; ++i) {
    equations.second[diagonal] += ridge;
    diagonal += equations.dimension - i;
  }
  FlooredSolution solution = solve(equations, 0);
  return {std::move(solution.theta), {1}, floor, solution.floored, ridge};
}

/// The solution under given weights. The floor belongs to the weights, since the noise of the weighted H depends on
/// them.
Estimate solved(const RunningSums& sums, const Frame& frame, std::span<const double> covariance,
                std::vector<double> weights) {
  const double deviation = second_stddev(sums.stages(), frame.design.shape.inputs, frame.noise, covariance, weights);
  // √(2d) times the deviation is the spectral norm of the noise in H. A smaller eigenvalue may be noise alone.
  const double floor = std::sqrt(2 * static_cast<double>(frame.design.shape.inputs)) * deviation;
  if (frame.design.solution == Solution::adassp) return ridged(sums, frame, deviation, floor);
  FlooredSolution solution = solve(combined(frame.design, sums.stages(), weights), floor);
  return {std::move(solution.theta), std::move(weights), floor, solution.floored, {}};
}

}  // namespace

BlockNoise block_noise(const Design& design, const std::vector<NoiseMultiplier>& sigmas) {
  const std::vector<Block> noised = noised_blocks(design);
  if (sigmas.size() != noised.size()) {
    throw InvalidParameter("sigmas", std::to_string(sigmas.size()), "one for each noised block");
  }
  BlockNoise noise;
  for (std::size_t i = 0; i < noised.size(); ++i) {
    const double stddev = noise_stddev(sigmas[i], displacement(design, noised[i])).value();
    double& of = noised[i] == Block::second       ? noise.second
                 : noised[i] == Block::regressors ? noise.regressors
                 : noised[i] == Block::target     ? noise.target
                 : noised[i] == Block::eigenvalue ? noise.eigenvalue
                                                  : noise.spread;
    of = stddev;
  }
  return noise;
}

NormalEquations combined(const Design& design, std::span<const StageSums> stages, std::span<const double> weights) {
  NUSTREAM_REQUIRE(!stages.empty() && stages.size() == weights.size(), "every stage has a weight");
  const std::size_t d = design.shape.inputs;
  NormalEquations whole{d, std::vector<double>(stages.back().second.size()),
                        std::vector<double>(design.shape.coefficients()), stages.back().centre};
  std::vector<double> distance(d);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const StageSums& stage = stages[s];
    if (stage.second.empty()) continue;  // forgotten: its sums went into the last stage
    for (std::size_t j = 0; j < whole.second.size(); ++j) whole.second[j] += weights[s] * stage.second[j];
    for (std::size_t first = 0; first < whole.gap.size(); first += d) {
      for (std::size_t j = 0; j < d; ++j) distance[j] = stage.centre[first + j] - whole.centre[first + j];
      const std::vector<double> moved = times_triangle(stage.second, distance);
      for (std::size_t j = 0; j < d; ++j) whole.gap[first + j] += weights[s] * (stage.cross[first + j] + moved[j]);
    }
  }
  return whole;
}

std::vector<double> stage_covariance(const RunningSums& sums, const StageNoise& noise, StepCount steps) {
  std::vector<std::uint64_t> firsts;
  for (const StageSums& stage : sums.stages()) firsts.push_back(stage.first);
  return noise.covariance(firsts, steps);
}

Estimate estimate(const RunningSums& sums, const Frame& frame, std::span<const double> covariance) {
  NUSTREAM_REQUIRE(covariance.size() == sums.stages().size() * sums.stages().size(), "a covariance of all stages");
  // The weights depend on how far the centres are from the solution, so a solution with equal weights comes first.
  Estimate equal = solved(sums, frame, covariance, std::vector<double>(sums.stages().size(), 1.0));
  if (!frame.weighting.residual_variance || sums.memory().forgets() || sums.stages().size() == 1) return equal;
  return solved(sums, frame, covariance, precision_weights(sums, frame, covariance, equal.theta));
}

}  // namespace nustream::moments
