// What every loop shares: the checks of its rule, and how an iterate enters an average.
#pragma once

#include <cstddef>
#include <span>

#include "nustream/descent/loop.h"

namespace nustream::descent {

/// Throws InvalidParameter where the rule is out of range for an iterate of `start`'s size, or where `start` is empty
/// or not finite.
void check_rule(const StepRule& rule, std::span<const double> start);
/// Checks `start` alone in the same way.
void check_start(std::span<const double> start);
/// Throws InvalidParameter where λ is not a finite number ≥ 0.
void check_l2(double l2);

/// θ̄ ← θ̄ + gain (θ − θ̄). A gain of 0 leaves the average as it is.
inline void take_in(std::span<double> average, std::span<const double> theta, double gain) {
  if (!(gain > 0)) return;
  for (std::size_t j = 0; j < average.size(); ++j) average[j] += gain * (theta[j] - average[j]);
}

}  // namespace nustream::descent
