// [noise] with correlation = "optimised": coefficients that are computed here, from settings alone.
#pragma once

#include "config/config.h"
#include "config/settings_tree.h"
#include "nustream/privacy/stationary.h"

namespace nustream::config {

/// What the objective "descent" takes from other sections: the step size of the first step, and whether the loss is
/// the mean (fixed) or another one (features multiply into the error).
struct FittedDescent {
  StepSize step_size;
  privacy::Curvature curvature;
};

struct OptimisedNoise {
  noise::Correlation correlation;
  FitObjective objective;
};

/// Reads the problem and solves it: seconds for thousands of coefficients. Failure(configuration) for a key that is
/// out of range; InvalidParameter and Unsupported as the fits throw them.
[[nodiscard]] OptimisedNoise read_optimised(const Section& noise, const FittedDescent& descent);

}  // namespace nustream::config
