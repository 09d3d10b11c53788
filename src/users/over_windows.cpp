// Turns a ρ within one window of time into one over several. The ratio of two sensitivities of the same mechanism is
// all that is needed, so σ does not have to be known here.
#include "nustream/users/over_windows.h"

#include <algorithm>

#include "nustream/privacy/windows.h"
#include "nustream/users/sensitivity.h"
#include "privacy/rounding.h"

namespace nustream::users {
namespace {

/// The least of the bounds that the limits give. With both limits it is reached where the worst pattern of one limit
/// is allowed by the other too: k whole contributions where W ≥ k, or all of W ≤ 1 in one step.
privacy::WindowsSensitivity least_over_windows(const noise::Correlation& correlation, std::optional<StepCount> steps,
                                               const Limits& limits, std::uint64_t windows) {
  std::optional<privacy::WindowsSensitivity> bound;
  if (limits.participation()) {
    bound = privacy::sensitivity_over_windows(correlation, steps, *limits.participation(), windows);
  }
  if (!limits.mass()) return *bound;
  const double mass = limits.mass()->value();
  const auto once = privacy::sensitivity_over_windows(correlation, steps, privacy::Participation::once(), windows);
  const Sensitivity of_mass{privacy::rounded_up(mass * once.sensitivity.value(), 0)};
  if (!bound || of_mass < bound->sensitivity) return {of_mass, once.is_reached && mass <= 1};
  bound->is_reached = bound->is_reached && mass >= static_cast<double>(limits.participation()->times());
  return *bound;
}

}  // namespace

OverWindows over_windows(Rho rho, const noise::Correlation& correlation, std::optional<StepCount> steps,
                         const Limits& limits, std::uint64_t windows) {
  if (windows == 0) return {Rho{0}, true};
  const privacy::WindowsSensitivity over = least_over_windows(correlation, steps, limits, windows);
  if (windows == 1) return {rho, over.is_reached};
  const Sensitivity of_one =
      steps ? sensitivity(correlation, *steps, limits) : sensitivity_limit(correlation, limits);
  const double ratio = over.sensitivity.value() / of_one.value();
  const double times = std::min(ratio, static_cast<double>(windows));
  return {Rho{privacy::rounded_up(rho.value() * times * times, 0)}, over.is_reached};
}

}  // namespace nustream::users
