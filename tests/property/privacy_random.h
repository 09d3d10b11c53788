// The random numbers that tests of sensitivities draw, and the comparisons that they make.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

#include "nustream/noise/correlation.h"
#include "nustream/privacy/participation.h"
#include "nustream/privacy/sensitivity.h"

namespace nustream::privacy {

inline double squared(const noise::Correlation& correlation, std::uint64_t steps,
                      const Participation& participation) {
  return std::pow(sensitivity(correlation, StepCount{steps}, participation).value(), 2);
}

struct Random {
  std::mt19937_64 engine;
  double real(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine); }
  std::uint64_t integer(std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(engine);
  }
  Participation participation(std::uint64_t most, std::uint64_t farthest) {
    return {integer(1, most), integer(1, farthest)};
  }
};

}  // namespace nustream::privacy
