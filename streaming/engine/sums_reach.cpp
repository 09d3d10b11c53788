// The public figures behind a plan of running sums: from the covariance of the sums' noise to what it leaves in an
// estimate. The floor is that of moments/estimate.h, √(2d)·τ, or, for AdaSSP, its ridge (Wang 2018, Algorithm 2).
#include "engine/sums_reach.h"

#include <cmath>

#include "config/moments.h"
#include "nustream/inference/adassp.h"
#include "nustream/moments/estimate.h"
#include "nustream/moments/stage_noise.h"

namespace nustream::engine {

SumsReach sums_reach(const config::Config& config, const config::Mechanism& mechanism, StepCount releases) {
  const std::uint64_t every = config.descent.minibatch;
  const moments::Settings settings = config::moments_settings(config, mechanism);
  const moments::Design& design = settings.mechanism.design;
  const moments::BlockNoise noise = moments::block_noise(design, settings.sigmas);
  // The part κ of the sums that a step keeps: 1 − m/M with a memory of M records, of which each step takes m.
  const double kept = settings.memory ? 1 - static_cast<double>(every) / static_cast<double>(*settings.memory) : 1;
  const moments::StageNoise sums(settings.mechanism.correlation, kept);
  // The figures are those of the first stage, as if it were the only one.
  const moments::Radii& radii = settings.stages.front().radii;
  // `deviation` is the standard deviation of the noise in a sum after `releases` releases, in units of the seed
  // noise's. `weight` is the number of records in that sum. With a memory, older blocks have smaller weights, and
  // their sum is a geometric series.
  const std::uint64_t first = 0;
  const double deviation = std::sqrt(sums.covariance({&first, 1}, releases).front());
  const auto steps = static_cast<double>(releases.value());
  const double in_sums = settings.memory ? (1 - std::pow(kept, steps)) / (1 - kept) : steps;
  const double weight = in_sums * static_cast<double>(every);
  // BlockNoise is in units of a block's radius: the bound of ‖x‖² for xxᵀ, and of ‖x‖·|y| for xy.
  const double second = noise.second * radii.inputs * radii.inputs * deviation;
  const std::size_t inputs = design.shape.inputs;
  // No smallest eigenvalue is known before there are data. The largest ridge, for an eigenvalue of 0, bounds them
  // all.
  const double floor = design.solution == moments::Solution::adassp
                           ? inference::adaptive_ridge(inputs, second, {0, 0})
                           : std::sqrt(2.0 * static_cast<double>(inputs)) * second;
  return {releases.value(), releases.value() * every, floor / weight,
          noise.target * radii.inputs * radii.target * deviation / weight, second / weight};
}

}  // namespace nustream::engine
