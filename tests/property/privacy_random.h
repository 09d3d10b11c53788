// The random numbers that tests of sensitivities draw, and the comparisons that they make.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

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

/// Correlations whose c is non-negative and non-increasing, at least from c_1 on.
inline noise::Correlation falling_correlation(Random& random, std::uint64_t steps) {
  switch (random.integer(0, 6)) {
    case 0:
      return noise::Correlation{noise::Independent{}};
    case 1:
      return noise::Correlation{noise::NuFtrl{Damping{random.real(0, 0.5)}, StepCount{steps}}};
    case 2:
      return noise::Correlation{noise::Rational::nu_ftrl(Damping{random.real(1e-3, 0.5)}, random.integer(1, 6))};
    case 3:
      return noise::Correlation{noise::DampedAntiPgd{Damping{random.real(1e-3, 0.9)}}};
    case 4:
      return noise::Correlation{noise::AntiPgd{StepCount{steps}}};
    case 5:  // c_1 > 1
      return noise::Correlation{
          noise::Rational::from_poles({0.9, 0.3}, {random.real(0.9, 1.3), random.real(0.15, 0.35)})};
    default: {
      std::vector<double> c = {1};
      if (random.integer(0, 1) == 1) c.push_back(random.real(1, 1.2));
      while (c.size() < random.integer(1, steps)) c.push_back(c.back() * random.real(0.2, 1));
      return noise::Correlation{noise::Strategy{c, StepCount{steps}}};
    }
  }
}

}  // namespace nustream::privacy
