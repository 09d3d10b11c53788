// [noise] with correlation = "optimised": reads coefficients that are computed here, from settings alone.
#pragma once

#include "config/config.h"
#include "config/settings_tree.h"
#include "nustream/privacy/stationary.h"

namespace nustream::config {

/// What the objective "descent" takes from other sections: the size of the first step, and whether the loss is the
/// mean, whose curvature is fixed, or another one, where features multiply into the error.
struct FittedDescent {
  StepSize step_size;
  privacy::Curvature curvature;
};

struct OptimisedNoise {
  noise::Correlation correlation;
  FitObjective objective;
};

/// Reads the problem and solves it, which takes seconds for thousands of coefficients. Throws Failure(configuration)
/// for a key that is out of range, and InvalidParameter and Unsupported as the fits do.
[[nodiscard]] OptimisedNoise read_optimised(const Section& noise, const FittedDescent& descent);

}  // namespace nustream::config
