// The sensitivities against numbers that other people's programs computed.
#include "nustream/privacy/sensitivity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "nustream/privacy/epsilon.h"
#include "nustream/privacy/optimised.h"
#include "nustream/privacy/zcdp.h"
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

// The largest decay rate is 1 − 2e-10: there the reference, which is a double, has itself lost seven digits.
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

// Restarted trees: a record that takes part once costs one tree (compute_rdp_tree_restart of tensorflow-privacy, for
// step counts 128, 100 and 64, has 8 levels in the largest tree).
TEST(SensitivityReference, RestartedTreeCostsOneTree) {
  const noise::Correlation correlation{noise::Tree{7, noise::Tree::Estimator::honaker, true}};
  EXPECT_NEAR(squared(correlation, 1'000'000'000, Participation::once()), 8, 1e-13);
  EXPECT_NEAR(std::pow(sensitivity_limit(correlation, Participation::once()).value(), 2), 8, 1e-13);
}

// jax-privacy 2.0.0 (toeplitz.optimal_max_error_strategy_coefs and its inverse, sensitivity_squared, loss): ν = 0
// over n steps is that optimum.
TEST(SensitivityReference, TheOptimalToeplitzStrategyIsNuZero) {
  struct Known {
    std::uint64_t steps;
    double c_last, beta_last, squared_sensitivity, loss_max, loss_mean;
  };
  for (const Known& known : {Known{10, 0.1854705810546875, -0.0109100341796875, 1.7913439415860921,
                                   3.2089131170571967, 2.7330060326254118},
                             Known{128, 0.050014478994713306, -0.0001976856877261438, 2.6101038647749775,
                                   6.812642184913268, 5.9967473737552766},
                             Known{1000, 0.017847935113411057, -8.937373617131684e-06, 3.2650030806724337,
                                   10.660245116800466, 9.623887207285149}}) {
    const noise::Correlation correlation{noise::NuFtrl{Damping{0}, StepCount{known.steps}}};
    const auto n = static_cast<std::size_t>(known.steps);
    const auto near = [](double actual, double expected) { EXPECT_NEAR(actual / expected, 1, 1e-12); };
    near(noise::strategy_coefficients(correlation, n).back(), known.c_last);
    near(noise::noise_coefficients(correlation, n).back(), known.beta_last);
    near(squared(correlation, known.steps, Participation::once()), known.squared_sensitivity);
    for (const auto& [error, loss] :
         {std::pair{PrefixError::largest, known.loss_max}, std::pair{PrefixError::mean, known.loss_mean}}) {
      near(prefix_sum_loss(correlation, {StepCount{known.steps}, Participation::once(), error}), loss);
    }
  }
}

// dp-accounting 0.6.0 composes SingleEpochTreeAggregationDpEvent over 10 epochs of 100 steps at a noise multiplier of
// 5, and a tree restarted after 128, 100 and 64 steps at 2. Its ε is the least over a list of orders, and the
// library's is the least over all orders.
TEST(SensitivityReference, RestartedTreesComposeAsElsewhere) {
  const noise::Correlation tree{noise::Tree{7, noise::Tree::Estimator::plain, false}};
  const Rho epoch = privacy::rho(sensitivity(tree, StepCount{100}, Participation::once()), NoiseMultiplier{5});
  const Rho ten = compose(std::vector<Rho>(10, epoch));
  EXPECT_NEAR(ten.value(), 1.4, 1e-12);
  const noise::Correlation restarted{noise::Tree{7, noise::Tree::Estimator::plain, true}};
  const Rho once =
      privacy::rho(sensitivity(restarted, StepCount{128 + 100 + 64}, Participation::once()), NoiseMultiplier{2});
  EXPECT_NEAR(once.value(), 1.0, 1e-12);
  for (const auto& [spent, theirs] : {std::pair{ten, 9.455389993163013}, {once, 7.766237903487095}}) {
    const double ours = epsilon(spent, Delta{1e-6}, Conversion::zcdp).value();
    EXPECT_LE(ours, theirs * (1 + 1e-9));
    EXPECT_GE(ours, theirs * 0.995);
  }
}

}  // namespace
}  // namespace nustream::privacy
