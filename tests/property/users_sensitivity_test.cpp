// The sensitivity of a user against an exhaustive search over everything that the limits allow.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/privacy/sensitivity.h"
#include "nustream/users/sensitivity.h"
#include "property/privacy_brute_force.h"

namespace nustream::users {
namespace {

std::vector<noise::Correlation> correlations(std::uint64_t steps) {
  return {noise::Correlation{noise::Independent{}},
          noise::Correlation{noise::NuFtrl{Damping{0}, StepCount{steps}}},
          noise::Correlation{noise::NuFtrl{Damping{.2}, StepCount{steps}}},
          noise::Correlation{noise::Rational::nu_ftrl(Damping{.05})},
          noise::Correlation{noise::DampedAntiPgd{Damping{.2}}},
          noise::Correlation{noise::AntiPgd{StepCount{steps}}},
          noise::Correlation{noise::Windowed{{1, -.5, .2, -.1}, {}}},
          noise::Correlation{noise::Strategy{{1, .6, -.3, .2}, StepCount{steps}}}};
}

/// The largest Σ_ij x_i x_j |⟨C_i, C_j⟩| over norms x_t that are multiples of 0.1, at most 1 each and `tenths` tenths
/// in all, with a contribution in every step that `allowed` lets in.
double exhaustive(const noise::Correlation& correlation, std::size_t steps, int tenths) {
  const auto products = privacy::brute_force::encoder_products(correlation, steps);
  std::vector<int> norms(steps, 0);
  long double largest = 0;
  const std::function<void(std::size_t, int)> deal = [&](std::size_t step, int left) {
    if (step == steps) {
      long double sum = 0;
      for (std::size_t i = 0; i < steps; ++i) {
        for (std::size_t j = 0; j < steps; ++j) sum += norms[i] * norms[j] / 100.0L * std::abs(products[i][j]);
      }
      largest = std::max(largest, sum);
      return;
    }
    for (int norm = 0; norm <= std::min(left, 10); norm += 2) {
      norms[step] = norm;
      deal(step + 1, left - norm);
    }
    norms[step] = 0;
  };
  deal(0, tenths);
  return static_cast<double>(std::sqrt(largest));
}

TEST(UserSensitivity, OfMassIsNeverLessThanAnExhaustiveSearchFinds) {
  for (const std::uint64_t steps : {1U, 2U, 4U, 5U}) {
    for (const noise::Correlation& correlation : correlations(steps)) {
      for (const int tenths : {4, 10, 16, 26}) {
        const Limits limits{std::nullopt, Mass{tenths / 10.0}};
        const double found = sensitivity(correlation, StepCount{steps}, limits).value();
        const double exact = exhaustive(correlation, steps, tenths);
        EXPECT_GE(found, exact * (1 - 1e-12));
        if (tenths <= 10) {
          EXPECT_LE(found, exact * (1 + 1e-6));
        }
      }
    }
  }
}

TEST(UserSensitivity, OfParticipationIsNeverLessThanAnExhaustiveSearchFinds) {
  std::mt19937_64 random(6);
  for (int trial = 0; trial < 40; ++trial) {
    const std::uint64_t steps = 1 + random() % 9;
    const privacy::Participation participation{1 + random() % 4, 1 + random() % 4};
    for (const noise::Correlation& correlation : correlations(steps)) {
      const double found = sensitivity(correlation, StepCount{steps}, {participation, std::nullopt}).value();
      const double exact = std::sqrt(privacy::brute_force::squared_sensitivity(correlation, steps, participation));
      EXPECT_GE(found, exact * (1 - 1e-12));
    }
  }
}

TEST(UserSensitivity, OfATreeCountsItsNodes) {
  const noise::Correlation tree{noise::Tree{3, noise::Tree::Estimator::plain, false}};
  for (const std::uint64_t steps : {1U, 3U, 8U}) {
    for (const privacy::Participation& participation : {privacy::Participation{1, 1}, privacy::Participation{3, 2}}) {
      const double exact = privacy::brute_force::squared_tree_sensitivity(3, steps, participation);
      const double found = sensitivity(tree, StepCount{steps}, {participation, std::nullopt}).value();
      EXPECT_NEAR(found * found, exact, 1e-9 * exact);
      const double once = privacy::brute_force::squared_tree_sensitivity(3, steps, {1, 1});
      const double mass = sensitivity(tree, StepCount{steps}, {std::nullopt, Mass{2}}).value();
      EXPECT_NEAR(mass * mass, 4 * once, 1e-9 * once);
    }
  }
}

TEST(UserSensitivity, OfBothLimitsIsTheLesser) {
  const noise::Correlation correlation{noise::NuFtrl{Damping{0}, StepCount{1000}}};
  const privacy::Participation often{400, 1};
  const auto of = [&](const Limits& limits) { return sensitivity(correlation, StepCount{1000}, limits); };
  EXPECT_EQ(of({often, Mass{2}}), of({{}, Mass{2}}));
  EXPECT_EQ(of({often, Mass{1e6}}), of({often, {}}));
  EXPECT_EQ(of({privacy::Participation::once(), {}}),
            privacy::sensitivity(correlation, StepCount{1000}, privacy::Participation::once()));
}

TEST(UserSensitivity, OfEndlessStepsNeedsACorrelationThatHasOne) {
  const Limits limits{privacy::Participation{4, 10}, Mass{3}};
  const noise::Correlation endless{noise::Rational::nu_ftrl(Damping{.01})};
  EXPECT_GE(sensitivity_limit(endless, limits).value(), sensitivity(endless, StepCount{100'000}, limits).value());
  EXPECT_THROW(static_cast<void>(sensitivity(noise::Correlation{noise::Tree{3, noise::Tree::Estimator::plain, false}},
                                             StepCount{9}, limits)),
               Unsupported);
}

}  // namespace
}  // namespace nustream::users
