// Every sensitivity against the definition, over random correlations, participations and numbers of steps.
#include "nustream/privacy/sensitivity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "nustream/base/error.h"
#include "privacy_brute_force.h"
#include "privacy_random.h"

namespace nustream::privacy {
namespace {

using noise::Correlation;

/// Correlations whose c may rise or change its sign.
Correlation wandering(Random& random, std::uint64_t steps) {
  switch (random.integer(0, 2)) {
    case 0: {
      std::vector<double> beta = {1};
      const std::size_t terms = random.integer(1, 6);
      while (beta.size() < terms) beta.push_back(random.real(-0.6, 0.6));
      return Correlation{noise::Windowed{beta, StepCount{steps}}};
    }
    case 1: {
      std::vector<double> c = {1};
      const std::size_t terms = random.integer(1, 6);
      while (c.size() < terms) c.push_back(random.real(-1, 1));
      return Correlation{noise::Strategy{c, StepCount{steps}}};
    }
    default:
      return noise::windowed_nu(Damping{random.real(0, 0.1)}, random.integer(2, 5), StepCount{steps});
  }
}

noise::Dense dense(Random& random, std::uint64_t steps) {
  const std::size_t bands = random.integer(1, steps);
  std::vector<double> rows;
  for (std::size_t t = 0; t < steps; ++t) {
    for (std::size_t i = 1; i < std::min(t + 1, bands); ++i) rows.push_back(random.real(-0.6, 0.8));
    rows.push_back(random.real(0.3, 1.5));
  }
  return {rows, bands, StepCount{steps}};
}

std::string description(const Correlation& correlation, std::uint64_t steps, const Participation& participation) {
  return correlation.name() + ", T " + std::to_string(steps) + ", k " + std::to_string(participation.times()) +
         ", b " + std::to_string(participation.separation());
}

TEST(SensitivityProperty, ExactWhereTheColumnFalls) {
  Random random{std::mt19937_64{20231016}};
  for (int trial = 0; trial < 400; ++trial) {
    const std::uint64_t steps = random.integer(1, 9);
    const Correlation correlation = falling_correlation(random, steps);
    const Participation participation = random.participation(5, 4);
    const double expected = brute_force::squared_sensitivity(correlation, steps, participation);
    EXPECT_NEAR(squared(correlation, steps, participation), expected, 2e-12 * expected)
        << description(correlation, steps, participation);
  }
}

TEST(SensitivityProperty, ExactForOneParticipationOfAnyCorrelation) {
  Random random{std::mt19937_64{7}};
  for (int trial = 0; trial < 400; ++trial) {
    const std::uint64_t steps = random.integer(1, 9);
    const Correlation correlation = wandering(random, steps);
    const double expected = brute_force::squared_sensitivity(correlation, steps, Participation::once());
    EXPECT_NEAR(squared(correlation, steps, Participation::once()), expected, 1e-12 * expected)
        << description(correlation, steps, Participation::once());
  }
}

TEST(SensitivityProperty, NeverBelowTheDefinition) {
  Random random{std::mt19937_64{11}};
  int closed_form_would_be_too_small = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const std::uint64_t steps = random.integer(1, 9);
    const Correlation correlation = wandering(random, steps);
    const Participation participation = random.participation(4, 4);
    const double expected = brute_force::squared_sensitivity(correlation, steps, participation);
    EXPECT_GE(squared(correlation, steps, participation), expected * (1 - 1e-13))
        << description(correlation, steps, participation);
    // The formula for falling columns, applied to a column for which it does not hold.
    const std::vector<double> c = noise::strategy_coefficients(correlation, steps);
    double earliest = 0;
    for (std::size_t t = 0; t < steps; ++t) {
      double v = 0;
      for (std::size_t i = 0; i < participation.times() && i * participation.separation() <= t; ++i) {
        v += c[t - i * participation.separation()];
      }
      earliest += v * v;
    }
    if (earliest < 0.99 * expected) ++closed_form_would_be_too_small;
  }
  EXPECT_GT(closed_form_would_be_too_small, 30) << "the settings do not reach what this test is about";
}

// Where the columns of no two participations meet, the shape of the columns does not matter.
TEST(SensitivityProperty, ExactWhereTheColumnEndsBeforeTheNextParticipation) {
  Random random{std::mt19937_64{37}};
  for (int trial = 0; trial < 300; ++trial) {
    const std::uint64_t steps = random.integer(1, 10);
    const Participation participation = random.participation(5, 4);
    std::vector<double> c = {1};
    while (c.size() < participation.separation()) c.push_back(random.real(-1, 1));
    const Correlation strategy{noise::Strategy{c, StepCount{steps}}};
    const double expected = brute_force::squared_sensitivity(strategy, steps, participation);
    EXPECT_NEAR(squared(strategy, steps, participation), expected, 1e-12 * expected)
        << description(strategy, steps, participation);
  }
}

// The leading steps of a matrix form an encoder of their own, so every running spend has its definition too.
TEST(SensitivityProperty, OfDenseEncodersIsExactUntilParticipationsMeetAndABoundBeyond) {
  Random random{std::mt19937_64{41}};
  int exact = 0;
  int loose = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    const std::uint64_t horizon = random.integer(1, 9);
    const noise::Dense encoder = dense(random, horizon);
    const Correlation correlation{encoder};
    const Participation participation = random.participation(4, 5);
    const std::uint64_t steps = random.integer(1, horizon);
    const double expected = brute_force::squared_sensitivity(correlation, steps, participation);
    const double accounted = squared(correlation, steps, participation);
    const std::string setting =
        description(correlation, steps, participation) + ", bands " + std::to_string(encoder.bands());
    if (participation.times() == 1 || encoder.bands() <= participation.separation()) {
      EXPECT_NEAR(accounted, expected, 1e-10 * expected) << setting;
      ++exact;
    } else {
      EXPECT_GE(accounted, expected * (1 - 1e-10)) << setting;
      if (accounted > 1.01 * expected) ++loose;
    }
  }
  EXPECT_GT(exact, 400);
  EXPECT_GT(loose, 100);
}

// A matrix that is Toeplitz, or a triangle of ones, at sizes where participations cannot be listed any more.
TEST(SensitivityProperty, OfDenseEncodersAgreesWithTheToeplitzOnes) {
  Random random{std::mt19937_64{43}};
  for (int trial = 0; trial < 60; ++trial) {
    const std::uint64_t steps = random.integer(1, 400);
    const std::size_t bands = random.integer(1, std::min<std::uint64_t>(steps, 40));
    std::vector<double> c = {1};
    while (c.size() < bands) c.push_back(c.back() * random.real(0.5, 1));
    std::vector<double> rows;
    for (std::size_t t = 0; t < steps; ++t) {
      for (std::size_t i = std::min<std::size_t>(t + 1, bands); i-- > 0;) rows.push_back(c[i]);
    }
    const Participation participation(random.integer(1, 12), bands + random.integer(0, 20));
    const Correlation toeplitz{noise::Strategy{c, StepCount{steps}}};
    const Correlation matrix{noise::Dense(rows, bands, StepCount{steps})};
    const std::uint64_t taken = random.integer(1, steps);
    const double expected = squared(toeplitz, taken, participation);
    EXPECT_NEAR(squared(matrix, taken, participation), expected, 1e-12 * expected)
        << description(toeplitz, taken, participation);
  }
}

TEST(SensitivityProperty, TreesCountTheNodesOfEveryParticipation) {
  Random random{std::mt19937_64{13}};
  for (int trial = 0; trial < 500; ++trial) {
    const std::uint64_t steps = random.integer(1, 18);
    const unsigned height = static_cast<unsigned>(random.integer(0, 5));
    const bool restarts = (std::uint64_t{1} << height) < steps || random.integer(0, 1) == 1;
    const Participation participation = random.participation(4, 9);
    const Correlation tree{noise::Tree{height, noise::Tree::Estimator::plain, restarts}};
    const double expected = brute_force::squared_tree_sensitivity(height, steps, participation);
    EXPECT_NEAR(squared(tree, steps, participation), expected, 1e-13 * expected)
        << description(tree, steps, participation) << ", height " << height;
  }
}

// What either estimator releases is post-processing of the nodes, so the node count bounds the sensitivity of the
// noise that is really added. For Honaker at T = 2 that sensitivity is 1.8, and the node count 2.
TEST(SensitivityProperty, TreeNodesBoundTheEstimatorsOwnSensitivity) {
  Random random{std::mt19937_64{17}};
  for (int trial = 0; trial < 200; ++trial) {
    const std::uint64_t steps = random.integer(1, 10);
    const unsigned height = static_cast<unsigned>(random.integer(0, 4));
    const auto estimator =
        random.integer(0, 1) == 1 ? noise::Tree::Estimator::honaker : noise::Tree::Estimator::plain;
    const Correlation tree{noise::Tree{height, estimator, true}};
    const Participation participation = random.participation(3, 4);
    EXPECT_GE(squared(tree, steps, participation) * (1 + 1e-13),
              brute_force::squared_sensitivity(tree, steps, participation))
        << description(tree, steps, participation) << ", height " << height;
  }
  const Correlation honaker{noise::Tree{1, noise::Tree::Estimator::honaker, false}};
  EXPECT_NEAR(brute_force::squared_sensitivity(honaker, 2, Participation::once()), 1.8, 1e-14);
  EXPECT_NEAR(squared(honaker, 2, Participation::once()), 2, 1e-14);
}

TEST(SensitivityProperty, NeverFallsWithMoreStepsOrParticipationsAndStaysBelowTheLimit) {
  Random random{std::mt19937_64{19}};
  for (int trial = 0; trial < 200; ++trial) {
    const std::vector<Correlation> endless = {
        Correlation{noise::Rational::nu_ftrl(Damping{random.real(1e-4, 0.5)}, random.integer(1, 8))},
        Correlation{noise::DampedAntiPgd{Damping{random.real(1e-4, 0.9)}}},
        Correlation{noise::NuFtrl{Damping{random.real(1e-2, 0.5)}, {}}},
        noise::windowed_nu(Damping{random.real(1e-3, 0.5)}, random.integer(1, 20)),
        Correlation{noise::Tree{static_cast<unsigned>(random.integer(0, 9)), noise::Tree::Estimator::plain, true}}};
    const Correlation& correlation = endless[random.integer(0, endless.size() - 1)];
    const Participation participation = random.participation(6, 50);
    const std::uint64_t steps = random.integer(1, 2000);
    const double now = squared(correlation, steps, participation);
    const std::string setting = description(correlation, steps, participation);
    EXPECT_GE(squared(correlation, steps + random.integer(1, 2000), participation) * (1 + 1e-15), now) << setting;
    EXPECT_GE(squared(correlation, steps, {participation.times() + 1, participation.separation()}) * (1 + 1e-15), now)
        << setting;
    EXPECT_GE(std::pow(sensitivity_limit(correlation, participation).value(), 2) * (1 + 1e-15), now) << setting;
  }
}

// The noise is generated from the rounded p and a. Its encoder is the series inverse of these, which the test
// computes in long double.
TEST(SensitivityProperty, CoversTheRationalNoiseAsItIsGenerated) {
  int rounding_mattered = 0;
  for (const double nu : {1e-4, 3.7e-4, 1e-3, 1e-2, 0.1, 0.3}) {
    for (std::size_t poles = 1; poles <= 12; ++poles) {
      const noise::Rational rational = noise::Rational::nu_ftrl(Damping{nu}, poles);
      std::vector<long double> memory(poles, 0);
      long double norm = 0;
      const auto steps = static_cast<std::uint64_t>(20 / nu);
      for (std::uint64_t t = 0; t < steps; ++t) {
        // β = 1 − Σ a_i p_i^{t−1}, so c_t = Σ_i a_i Σ_{s<t} p_i^{t−1−s} c_s.
        long double c = t == 0 ? 1 : 0;
        for (std::size_t i = 0; i < poles; ++i) c += rational.a()[i] * memory[i];
        for (std::size_t i = 0; i < poles; ++i) memory[i] = rational.p()[i] * memory[i] + c;
        norm += c * c;
      }
      const double generated = static_cast<double>(norm);
      const double accounted = squared(Correlation{rational}, steps, Participation::once());
      EXPECT_GE(accounted, generated) << nu << ", " << poles;
      EXPECT_NEAR(accounted, generated, 1e-9 * generated) << nu << ", " << poles;
      if (rational.squared_column_norm(StepCount{steps}) < generated) ++rounding_mattered;
    }
  }
  EXPECT_GT(rounding_mattered, 10) << "the settings do not reach what this test is about";
}

// The table of sums (windows, exact ν) and the closed form (rational) are two programs for one formula. They can be
// compared over a window that is as long as the rational β takes to decay.
TEST(SensitivityProperty, ClosedFormAgreesWithTheTableAtLength) {
  Random random{std::mt19937_64{23}};
  for (int trial = 0; trial < 40; ++trial) {
    const Correlation rational{noise::Rational::nu_ftrl(Damping{random.real(0.05, 0.5)}, random.integer(1, 6))};
    const std::uint64_t steps = random.integer(1, 3000);
    const Correlation strategy{noise::Strategy{
        noise::strategy_coefficients(rational, std::min<std::uint64_t>(steps, 2000)), StepCount{steps}}};
    const Participation participation = random.participation(40, 90);
    const double expected = squared(rational, steps, participation);
    EXPECT_NEAR(squared(strategy, steps, participation), expected, 1e-10 * expected)
        << description(rational, steps, participation);
  }
}

}  // namespace
}  // namespace nustream::privacy
