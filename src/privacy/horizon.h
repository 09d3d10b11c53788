// The hard stop of a correlation that exists for a finite number of steps.
#pragma once

#include <string>

#include "nustream/base/error.h"
#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"

namespace nustream::privacy {

/// Throws Unsupported where `steps` is beyond the correlation's horizon. A sensitivity computed there would belong
/// to another correlation than the one that generates the noise.
inline void require_within_horizon(const noise::Correlation& correlation, StepCount steps) {
  const auto horizon = correlation.horizon();
  if (!horizon || steps <= *horizon) return;
  throw Unsupported(std::to_string(steps.value()) + " steps are beyond the horizon of " +
                    std::to_string(horizon->value()) + " steps of the correlation " + correlation.name() +
                    ": stop there, or plan a longer horizon");
}

}  // namespace nustream::privacy
