// The sensitivities against numbers that other people's programs computed.
#include "nustream/privacy/sensitivity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "privacy_sensitivity_reference.h"

namespace nustream::privacy {
namespace {

double squared(const noise::Correlation& correlation, std::uint64_t steps, const Participation& participation) {
  return std::pow(sensitivity(correlation, StepCount{steps}, participation).value(), 2);
}

TEST(SensitivityReference, NuFtrlForOneParticipation) {
  for (const auto& expected : reference::nu_columns) {
    const bool limit = expected.steps == 0;
    const std::uint64_t horizon = limit ? 1 : expected.steps;
    const noise::Correlation correlation{
        noise::NuFtrl{Damping{expected.nu}, limit ? std::nullopt : std::optional{StepCount{horizon}}}};
    const double actual = std::pow(sensitivity_limit(correlation, Participation::once()).value(), 2);
    EXPECT_NEAR(actual, expected.squared_sensitivity, 1e-12 * expected.squared_sensitivity)
        << "nu " << expected.nu << " steps " << expected.steps;
    EXPECT_GE(actual, expected.squared_sensitivity);
  }
}

TEST(SensitivityReference, NuFtrlForSeveralParticipations) {
  for (const auto& expected : reference::nu_participations) {
    const noise::Correlation correlation{noise::NuFtrl{Damping{expected.nu}, StepCount{expected.steps}}};
    const double actual = squared(correlation, expected.steps, {expected.times, expected.separation});
    EXPECT_NEAR(actual, expected.squared_sensitivity, 1e-12 * expected.squared_sensitivity)
        << "nu " << expected.nu << " steps " << expected.steps << " b " << expected.separation;
    EXPECT_GE(actual, expected.squared_sensitivity);
  }
}

// The largest decay rate is 1 − 2e-10: there the double that is compared with has itself lost seven digits.
TEST(SensitivityReference, RationalFromSomeoneElsesPoles) {
  for (const auto& blt : reference::blts) {
    const noise::Correlation correlation{noise::Rational::from_poles(blt.decays, blt.scales)};
    const double memory = 1 / (1 - blt.decays.front());
    const double accuracy = 1e-12 + 100 * 1.1e-16 * std::min(memory, static_cast<double>(blt.steps));
    EXPECT_NEAR(squared(correlation, blt.steps, Participation::once()), blt.once, accuracy * blt.once);
    EXPECT_NEAR(squared(correlation, blt.steps, {blt.times, blt.separation}), blt.several, accuracy * blt.several);
    const double limit = std::pow(sensitivity_limit(correlation, Participation::once()).value(), 2);
    EXPECT_NEAR(limit, blt.limit, (1e-12 + 100 * 1.1e-16 * memory) * blt.limit);
  }
}

TEST(SensitivityReference, TreeForSeveralParticipations) {
  for (const auto& expected : reference::tree_participations) {
    for (const auto estimator : {noise::Tree::Estimator::plain, noise::Tree::Estimator::honaker}) {
      const noise::Correlation correlation{noise::Tree{10, estimator, false}};
      const double actual = squared(correlation, expected.steps, {expected.times, expected.separation});
      EXPECT_NEAR(actual, expected.squared_sensitivity, 1e-14 * expected.squared_sensitivity)
          << expected.steps << " steps, k " << expected.times << ", b " << expected.separation;
    }
  }
}

// Restarted trees: the spend of a record that takes part once is that of one tree (tensorflow-privacy's
// compute_rdp_tree_restart for step counts 128, 100 and 64 has 8 levels in the largest).
TEST(SensitivityReference, RestartedTreeCostsOneTree) {
  const noise::Correlation correlation{noise::Tree{7, noise::Tree::Estimator::honaker, true}};
  EXPECT_NEAR(squared(correlation, 1'000'000'000, Participation::once()), 8, 1e-13);
  EXPECT_NEAR(std::pow(sensitivity_limit(correlation, Participation::once()).value(), 2), 8, 1e-13);
}

}  // namespace
}  // namespace nustream::privacy
