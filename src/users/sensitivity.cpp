// How far a user moves the encoded gradients under its limits, and what that costs. With both limits either bound
// holds, so the lesser counts. By the triangle inequality, W·‖C e_t‖ of the longest column bounds whatever pattern of
// steps a mass W allows.
#include "nustream/users/sensitivity.h"

#include <algorithm>

#include "nustream/base/error.h"
#include "nustream/privacy/sensitivity.h"
#include "privacy/rounding.h"

namespace nustream::users {
namespace {

/// The least of the bounds that the limits give; `of` gives the sensitivity of a participation.
template <class Of>
Sensitivity least(const Limits& limits, const Of& of) {
  std::optional<Sensitivity> bound;
  if (limits.participation()) bound = of(*limits.participation());
  if (limits.mass()) {
    const double once = of(privacy::Participation::once()).value();
    const Sensitivity of_mass{privacy::rounded_up(limits.mass()->value() * once, 0)};
    bound = bound ? std::min(*bound, of_mass) : of_mass;
  }
  return *bound;
}

}  // namespace

Sensitivity sensitivity(const noise::Correlation& correlation, StepCount steps, const Limits& limits) {
  return least(limits, [&](const privacy::Participation& participation) {
    return privacy::sensitivity(correlation, steps, participation);
  });
}

Sensitivity sensitivity_limit(const noise::Correlation& correlation, const Limits& limits) {
  return least(limits, [&](const privacy::Participation& participation) {
    return privacy::sensitivity_limit(correlation, participation);
  });
}

// Both bounds are of one and the same mechanism, so at every step the least of them holds.
privacy::Spend spend(const noise::Correlation& correlation, const Limits& limits, NoiseMultiplier sigma) {
  std::optional<privacy::Spend> bound;
  if (limits.participation()) bound = privacy::Spend(correlation, *limits.participation(), sigma);
  if (!limits.mass()) return *bound;
  const privacy::Spend of_mass = privacy::Spend::of_length(correlation, limits.mass()->value(), sigma);
  return bound ? bound->or_less(of_mass) : of_mass;
}

}  // namespace nustream::users
