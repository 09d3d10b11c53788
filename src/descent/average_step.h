// How an iterate enters an average, as descent/averaging.h says.
#pragma once

#include <cstddef>
#include <span>

namespace nustream::descent {

/// θ̄ ← θ̄ + gain (θ − θ̄). A gain of 0 leaves the average as it is.
inline void take_in(std::span<double> average, std::span<const double> theta, double gain) {
  if (!(gain > 0)) return;
  for (std::size_t j = 0; j < average.size(); ++j) average[j] += gain * (theta[j] - average[j]);
}

}  // namespace nustream::descent
