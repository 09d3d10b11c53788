#include "nustream/privacy/sensitivity.h"

#include <cmath>

#include "encoder_norm.h"
#include "nustream/base/error.h"
#include "rounding.h"

namespace nustream::privacy {

Sensitivity sensitivity(const noise::Correlation& correlation, StepCount steps, const Participation& participation) {
  if (steps.value() == 0) throw InvalidParameter("steps", "0", "an integer >= 1");
  require_within_horizon(correlation, steps);
  const auto norm = encoder_norm(correlation, participation, steps);
  return Sensitivity{rounded_up(std::sqrt(norm->squared(steps.value())), 0)};
}

Sensitivity sensitivity_limit(const noise::Correlation& correlation, const Participation& participation) {
  if (const auto horizon = correlation.horizon()) return sensitivity(correlation, *horizon, participation);
  const auto norm = encoder_norm(correlation, participation, {});
  return Sensitivity{rounded_up(std::sqrt(norm->squared_limit()), 0)};
}

}  // namespace nustream::privacy
