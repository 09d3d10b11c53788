// The sensitivity over several windows from its definition: over every pattern of steps.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "privacy_brute_force.h"

namespace nustream::privacy::brute_force {

/// Calls `visit` with every set of steps below `steps` that `windows` windows allow, one after the other, wherever
/// their borders are: within a window there are at most k steps, at least b apart. A set may come more than once.
inline void for_each_windowed(std::size_t steps, const Participation& within, std::uint64_t windows,
                              const std::function<void(const std::vector<std::size_t>&)>& visit) {
  std::vector<std::size_t> taken;
  const std::function<void(std::uint64_t, std::uint64_t)> extend = [&](std::uint64_t window, std::uint64_t here) {
    visit(taken);
    for (std::size_t t = taken.empty() ? 0 : taken.back() + 1; t < steps; ++t) {
      const bool fits = here == 0 || (here < within.times() && t - taken.back() >= within.separation());
      taken.push_back(t);
      if (fits) extend(window, here + 1);
      if (here > 0 && window + 1 < windows) extend(window + 1, 1);
      taken.pop_back();
    }
  };
  extend(0, 0);
}

/// max_π Σ_ij |⟨C_i, C_j⟩| over these patterns.
inline double squared_over_windows(const noise::Correlation& correlation, std::size_t steps,
                                   const Participation& within, std::uint64_t windows) {
  const Matrix products = encoder_products(correlation, steps);
  long double largest = 0;
  for_each_windowed(steps, within, windows, [&](const std::vector<std::size_t>& taken) {
    long double sum = 0;
    for (const std::size_t i : taken) {
      for (const std::size_t j : taken) sum += std::abs(products[i][j]);
    }
    largest = std::max(largest, sum);
  });
  return static_cast<double>(largest);
}

}  // namespace nustream::privacy::brute_force
