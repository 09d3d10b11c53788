// Takes the root of what the family's encoder says (encoder_norm.h). CDP+ Theorem 1.1 defines γ_T itself, without a
// square. EncoderNorm gives squares, because sums over columns are sums of squares.
#include "nustream/privacy/sensitivity.h"

#include <cmath>

#include "encoder_norm.h"
#include "nustream/base/error.h"
#include "rounding.h"

namespace nustream::privacy {

Sensitivity sensitivity(const noise::Correlation& correlation, StepCount steps, const Participation& participation) {
  if (steps.value() == 0) throw InvalidParameter("steps", "0", "an integer >= 1");
  // The encoder is also told how many steps there are, so that a numeric family computes its column that far only.
  require_within_horizon(correlation, steps);
  const auto norm = encoder_norm(correlation, participation, steps);
  // The squared norm is already an upper bound. Its root is rounded again, so it is raised again.
  return Sensitivity{rounded_up(std::sqrt(norm->squared(steps.value())), 0)};
}

Sensitivity sensitivity_limit(const noise::Correlation& correlation, const Participation& participation) {
  // The sensitivity never falls with more steps, so a correlation that ends has its supremum at its horizon.
  if (const auto horizon = correlation.horizon()) return sensitivity(correlation, *horizon, participation);
  const auto norm = encoder_norm(correlation, participation, {});
  return Sensitivity{rounded_up(std::sqrt(norm->squared_limit()), 0)};
}

}  // namespace nustream::privacy
