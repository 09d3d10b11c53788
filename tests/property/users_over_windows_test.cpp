// What a user with records in several windows has spent, against an exhaustive search over all that the limits allow.
#include "nustream/users/over_windows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "nustream/privacy/sensitivity.h"
#include "nustream/privacy/zcdp.h"
#include "nustream/users/sensitivity.h"
#include "property/privacy_windows_brute_force.h"

namespace nustream::users {
namespace {

const NoiseMultiplier unit_noise{1};

std::vector<noise::Correlation> correlations_of_windows(std::uint64_t steps) {
  return {noise::Correlation{noise::Independent{}}, noise::Correlation{noise::NuFtrl{Damping{.2}, StepCount{steps}}},
          noise::Correlation{noise::Rational::nu_ftrl(Damping{.05})},
          noise::Correlation{noise::Strategy{{1, .6, .3, .3}, StepCount{steps}}}};
}

OverWindows spent(const noise::Correlation& correlation, std::uint64_t steps, const Limits& limits,
                  std::uint64_t windows) {
  const Rho one = privacy::rho(sensitivity(correlation, StepCount{steps}, limits), unit_noise);
  return over_windows(one, correlation, StepCount{steps}, limits, windows);
}

// If two steps at a border were taken to lie b apart, as those of one window do, or if each window had noise of its
// own, too little would be claimed here.
TEST(UserOverWindows, SpendsWhatTheWorstPatternCosts) {
  std::mt19937_64 random(8);
  for (int trial = 0; trial < 40; ++trial) {
    const std::uint64_t steps = 1 + random() % 9;
    const std::uint64_t windows = 1 + random() % 3;
    const privacy::Participation within{1 + random() % 3, 1 + random() % 4};
    for (const noise::Correlation& correlation : correlations_of_windows(steps)) {
      const OverWindows found = spent(correlation, steps, {within, std::nullopt}, windows);
      const double exact = privacy::brute_force::squared_over_windows(correlation, steps, within, windows) / 2;
      EXPECT_GE(found.rho.value(), exact * (1 - 1e-12)) << steps << ' ' << windows;
      EXPECT_LE(found.rho.value(), exact * (1 + 1e-7)) << steps << ' ' << windows;
      EXPECT_TRUE(found.is_reached);
    }
  }
}

// All of a mass lies in one step of each window, and these steps are neighbours.
TEST(UserOverWindows, SpendsAMassInNeighbouringSteps) {
  for (const double mass : {.5, 1.0}) {
    for (const std::uint64_t windows : {1U, 2U, 3U}) {
      for (const noise::Correlation& correlation : correlations_of_windows(7)) {
        const OverWindows found = spent(correlation, 7, {std::nullopt, Mass{mass}}, windows);
        const double exact =
            mass * mass * privacy::brute_force::squared_over_windows(correlation, 7, {1, 1}, windows) / 2;
        EXPECT_NEAR(found.rho.value(), exact, 1e-7 * exact);
        EXPECT_TRUE(found.is_reached);
      }
    }
  }
}

// In each window norms of .4, .8, or 1 at most in one step, and 1.6 in all.
TEST(UserOverWindows, OfALargerMassIsNeverBelowAPattern) {
  for (const noise::Correlation& correlation : correlations_of_windows(6)) {
    const auto products = privacy::brute_force::encoder_products(correlation, 6);
    const OverWindows found = spent(correlation, 6, {std::nullopt, Mass{1.6}}, 2);
    EXPECT_FALSE(found.is_reached);
    for (const std::vector<double>& norms : std::vector<std::vector<double>>{
             {1, .6, .6, 1, 0, 0}, {.6, 1, 1, .6, 0, 0}, {.8, .8, .8, .8, 0, 0}, {.4, .4, .8, 1, .6, 0}}) {
      long double square = 0;
      for (std::size_t i = 0; i < 6; ++i) {
        for (std::size_t j = 0; j < 6; ++j) square += norms[i] * norms[j] * products[i][j];
      }
      EXPECT_GE(found.rho.value(), static_cast<double>(square) / 2);
    }
  }
}

TEST(UserOverWindows, OfBothLimitsSpendsTheLesser) {
  const noise::Correlation correlation{noise::Rational::nu_ftrl(Damping{.05})};
  const privacy::Participation within{3, 4};
  const auto of = [&](const Limits& limits) { return spent(correlation, 40, limits, 2); };
  EXPECT_NEAR(of({within, Mass{3}}).rho.value(), of({within, {}}).rho.value(), 1e-12);
  EXPECT_TRUE(of({within, Mass{3}}).is_reached);
  EXPECT_NEAR(of({within, Mass{1}}).rho.value(), of({{}, Mass{1}}).rho.value(), 1e-12);
  EXPECT_TRUE(of({within, Mass{1}}).is_reached);
  EXPECT_FALSE(of({within, Mass{1.3}}).is_reached);
}

// The same noise runs across all borders, so that windows cost more than they would one by one, and less than P²ρ.
TEST(UserOverWindows, SpendsBetweenTheSumAndTheSquare) {
  const noise::Correlation independent{noise::Independent{}};
  const noise::Correlation correlated{noise::Rational::nu_ftrl(Damping{.01})};
  const Limits limits{privacy::Participation{4, 10}, {}};
  for (const std::uint64_t windows : {2U, 4U, 12U}) {
    const auto times = static_cast<double>(windows);
    EXPECT_NEAR(over_windows(Rho{.1}, independent, {}, limits, windows).rho.value(), .1 * times, 1e-8);
    const double found = over_windows(Rho{.1}, correlated, {}, limits, windows).rho.value();
    EXPECT_GT(found, .1 * times);
    EXPECT_LT(found, .1 * times * times);
  }
  EXPECT_EQ(over_windows(Rho{.1}, correlated, {}, limits, 1).rho, Rho{.1});
  EXPECT_EQ(over_windows(Rho{.1}, correlated, {}, limits, 0).rho, Rho{0});
}

}  // namespace
}  // namespace nustream::users
