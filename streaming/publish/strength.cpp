#include "publish/strength.h"

#include <algorithm>
#include <cmath>

#include "nustream/base/error.h"
#include "nustream/descent/second_moments.h"
#include "nustream/inference/average_noise.h"

namespace nustream::publish {

std::optional<inference::FirstStageStrength> strength_of(const StrengthDesign& design, const lane::Release& release) {
  if (release.moment_steps == 0) return std::nullopt;
  const std::uint64_t steps = release.moment_steps;
  // The noise of the mean of z_1 … z_t: a descent with η = λ = 1 forgets all but the last z, so that its average is
  // that mean.
  double variance = 0;
  try {
    variance = inference::averaged_noise_variance(design.correlation, {1.0, 1.0, 0, steps});
  } catch (const Unsupported&) {
    return std::nullopt;
  }
  const double stddev = design.stddev.value() / static_cast<double>(design.minibatch) * std::sqrt(variance);
  const std::uint64_t taken = steps * design.minibatch;
  const std::uint64_t records = design.records ? std::min(taken, *design.records) : taken;
  return inference::first_stage_strength(descent::symmetric_matrix(release.bread, design.shape.row()), design.shape,
                                         records, stddev);
}

}  // namespace nustream::publish
