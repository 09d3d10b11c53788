// (ε, δ) over the whole range of doubles: the calibration, the monotony and the order of the conversions.
#include "nustream/privacy/epsilon.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "nustream/base/error.h"

namespace nustream::privacy {
namespace {

constexpr Conversion conversions[] = {Conversion::gaussian, Conversion::zcdp, Conversion::zcdp_simple};

struct PowersOfTen {
  std::mt19937_64 engine{20240101};
  double power_of_ten(double low, double high) {
    return std::pow(10, std::uniform_real_distribution<double>(low, high)(engine));
  }
};

TEST(EpsilonProperty, CalibrationNeverExceedsItsTargetAndWastesNothing) {
  PowersOfTen random;
  for (int trial = 0; trial < 300; ++trial) {
    const Epsilon target{random.power_of_ten(-6, 4)};
    const Delta delta{random.power_of_ten(-200, -0.01)};
    for (const Conversion conversion : conversions) {
      const Rho budget = rho_for(target, delta, conversion);
      EXPECT_LE(epsilon(budget, delta, conversion), target) << name(conversion) << delta.value();
      const Rho more{budget.value() * (1 + 1e-8) + 1e-300};
      EXPECT_GT(epsilon(more, delta, conversion), target) << name(conversion) << delta.value();
    }
  }
}

// The two functions of the exact curve are inverse to each other.
TEST(EpsilonProperty, DeltaAtEpsilonIsDelta) {
  PowersOfTen random;
  for (int trial = 0; trial < 2000; ++trial) {
    const double mu = random.power_of_ten(-5, 3);
    const Delta delta{random.power_of_ten(-250, -0.01)};
    const double at = epsilon(Rho{mu * mu / 2}, delta).value();
    if (at == 0) {
      EXPECT_LE(gaussian_delta(mu, 0), delta.value() * (1 + 1e-14));
      continue;
    }
    // An error of one unit in ε/μ is an error of x units in ln δ, and ε itself is a rounded double.
    const double x = std::abs(at / mu - mu / 2);
    const double rounding = 1e-13 + 4e-16 * (x + 1) * (at / mu + mu + 1);
    EXPECT_NEAR(gaussian_delta(mu, at), delta.value(), rounding * delta.value()) << mu << ", " << delta.value();
  }
}

TEST(EpsilonProperty, GrowsWithRhoAndShrinksWithDeltaAndTheExactCurveIsSmallest) {
  PowersOfTen random;
  for (int trial = 0; trial < 1000; ++trial) {
    const Rho rho{random.power_of_ten(-10, 5)};
    const Delta delta{random.power_of_ten(-100, -0.5)};
    const Rho more{rho.value() * 1.1};
    const Delta larger{delta.value() * 1.1};
    std::vector<double> values;
    for (const Conversion conversion : conversions) {
      values.push_back(epsilon(rho, delta, conversion).value());
      EXPECT_GE(epsilon(more, delta, conversion).value(), values.back());
      EXPECT_LE(epsilon(rho, larger, conversion).value(), values.back());
    }
    EXPECT_LE(values[0], values[1] * (1 + 1e-12));
    EXPECT_LE(values[1], values[2] * (1 + 1e-12));
  }
}

// The infimum over α by brute force: the bound is valid at every α, and the function reports the smallest.
TEST(EpsilonProperty, ZcdpIsTheInfimumOverAlpha) {
  PowersOfTen random;
  for (int trial = 0; trial < 200; ++trial) {
    const double rho = random.power_of_ten(-4, 3);
    const double delta = random.power_of_ten(-20, -2);
    double smallest = INFINITY;
    for (double step = -8; step < 8; step += 1e-3) {
      const double alpha = 1 + std::pow(10, step);
      smallest =
          std::fmin(smallest, rho * alpha + std::log(1 / (alpha * delta)) / (alpha - 1) + std::log1p(-1 / alpha));
    }
    const double actual = epsilon(Rho{rho}, Delta{delta}, Conversion::zcdp).value();
    EXPECT_LE(actual, smallest * (1 + 1e-9));
    EXPECT_NEAR(actual, smallest, 1e-4 * smallest);
  }
}

TEST(Epsilon, EndsOfTheRange) {
  for (const Conversion conversion : conversions) {
    EXPECT_EQ(epsilon(Rho{0}, Delta{1e-5}, conversion).value(), 0);
    EXPECT_EQ(epsilon(Rho{1e-300}, Delta{0.5}, conversion).value(),
              conversion == Conversion::zcdp_simple ? 1e-300 + 2 * std::sqrt(1e-300 * std::log(2)) : 0);
    EXPECT_GT(epsilon(Rho{1e12}, Delta{1e-300}, conversion).value(), 1e12 * (1 - 1e-12));
    EXPECT_TRUE(std::isfinite(rho_for(Epsilon{1e12}, Delta{1e-300}, conversion).value()));
    EXPECT_EQ(rho_for(Epsilon{0}, Delta{1e-300}, Conversion::zcdp_simple).value(), 0);
  }
  EXPECT_EQ(gaussian_delta(1e-3, 1e3), 0);
  EXPECT_EQ(gaussian_delta(1e3, 0), 1);
  EXPECT_THROW((void)gaussian_delta(0, 1), InvalidParameter);
  EXPECT_THROW((void)gaussian_delta(1, -1), InvalidParameter);
}

}  // namespace
}  // namespace nustream::privacy
