// Traps of sensitivities into which the papers and their implementations have fallen.
#include "nustream/privacy/sensitivity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "nustream/base/error.h"

namespace nustream::privacy {
namespace {

using noise::Correlation;

const Participation once = Participation::once();

double column_norm_by_summation(const Correlation& correlation, std::size_t steps) {
  long double sum = 0;
  for (const double c : noise::strategy_coefficients(correlation, steps)) sum += static_cast<long double>(c) * c;
  return static_cast<double>(std::sqrt(sum));
}

// A window changes B, so it has a C of its own: with the sensitivity of the exact ν the noise would be too large
// here, and too small for other approximations.
TEST(Sensitivity, AccountsForTheWindowNotForTheExactSeries) {
  struct Case {
    double nu, deviation;
  };
  for (const auto& [nu, deviation] : {Case{1e-4, -0.0896}, Case{1e-3, -0.0162}}) {
    const Correlation window = noise::windowed_nu(Damping{nu}, 256);
    const double exact = sensitivity_limit(Correlation{noise::NuFtrl{Damping{nu}, {}}}, once).value();
    EXPECT_NEAR(sensitivity_limit(window, once).value() / exact - 1, deviation, 1e-4);
    const double summed = column_norm_by_summation(window, 100'000);
    EXPECT_NEAR(sensitivity(window, StepCount{100'000}, once).value(), summed, 1e-12 * summed);
  }
}

TEST(Sensitivity, CertifiesWindowsForEveryHorizonAndClosely) {
  for (const double nu : {1e-6, 1e-4, 1e-2, 0.3}) {
    for (const std::size_t terms : {1U, 2U, 3U, 64U, 500U}) {
      const Correlation window = noise::windowed_nu(Damping{nu}, terms);
      const double summed = column_norm_by_summation(window, 50'000);
      const double certified = sensitivity_limit(window, once).value();
      EXPECT_GE(certified, summed) << nu << ", " << terms;
      EXPECT_NEAR(certified, summed, 1e-12 * summed) << nu << ", " << terms;
      EXPECT_GE(certified, sensitivity(window, StepCount{1'000'000'000}, once).value());
    }
  }
}

TEST(Sensitivity, RefusesAWindowWithoutBound) {
  // Σ_{t≥1} |β_t| = 1: c does not decay, and nothing is known of it beyond what can be computed.
  const std::vector<double> beta = {1, 0.5, -0.5};
  const Correlation window{noise::Windowed{beta, StepCount{1'000'000'000'000}}};
  EXPECT_THROW((void)sensitivity_limit(window, once), Unsupported);
  EXPECT_NO_THROW((void)sensitivity(window, StepCount{1000}, once));
  // β_t = −2^t: c doubles with every step, and so do its rounding errors.
  const Correlation exploding{noise::Windowed{{1, 3}, StepCount{200}}};
  EXPECT_THROW((void)sensitivity_limit(exploding, once), Unsupported);
}

TEST(Sensitivity, AntiPgdGrowsLikeTheSquareRootOfTheHorizon) {
  const Correlation anti{noise::AntiPgd{StepCount{1'000'000}}};
  EXPECT_NEAR(sensitivity(anti, StepCount{2500}, once).value(), 50, 1e-13);
  EXPECT_NEAR(sensitivity_limit(anti, once).value(), 1000, 1e-11);
}

TEST(Sensitivity, FullBatchDescentIsEveryRecordInEveryStep) {
  const Correlation independent{noise::Independent{}};
  EXPECT_NEAR(std::pow(sensitivity(independent, StepCount{30}, {30, 1}).value(), 2), 30, 1e-13);
  EXPECT_NEAR(std::pow(sensitivity(independent, StepCount{30}, {1000, 7}).value(), 2), 5, 1e-13);
}

// A c that is written as one sum of exponentials from t = 0 on gives a γ² that is a fifth too small.
TEST(Sensitivity, RationalColumnBeginsWithOne) {
  const noise::Rational rational = noise::Rational::nu_ftrl(Damping{0.01}, 4);
  // The number is from paper_vectors.json, "BLT rule lo=2nu hi=1 nu=.01 m=4".
  EXPECT_NEAR(std::pow(sensitivity_limit(Correlation{rational}, once).value(), 2), 2.136817709041903, 3e-12);
  EXPECT_NEAR(std::pow(sensitivity(Correlation{rational}, StepCount{77}, once).value(), 2),
              rational.squared_column_norm(StepCount{77}), 3e-12);
}

TEST(Sensitivity, IsInstantAndExactAtABillionSteps) {
  const StepCount billion{1'000'000'000};
  // For ν = 0, γ_T² = (ln T + γ_Euler + 4 ln 2)/π − 1/(4πT) + O(T^−2); the number has 30 digits.
  const Correlation undamped{noise::NuFtrl{Damping{0}, billion}};
  EXPECT_NEAR(std::pow(sensitivity(undamped, billion, once).value(), 2), 7.66269624304418655, 3e-12);
  const double nearly = sensitivity(Correlation{noise::NuFtrl{Damping{1e-12}, billion}}, billion, once).value();
  const double exact = sensitivity(undamped, billion, once).value();
  EXPECT_LT(nearly, exact);
  EXPECT_NEAR(nearly, exact, 1e-3 * exact);
  EXPECT_GT(sensitivity(Correlation{noise::Rational::nu_ftrl(Damping{1e-6})}, billion, {1000, 1000}).value(), 1);
}

// Beyond 2^20 terms, γ_T² of exact ν is a sum and an integral; the two must meet without a step.
TEST(Sensitivity, ExactNuJoinsSumAndIntegralWithoutAStep) {
  for (const double nu : {0.0, 1e-9, 1e-7, 1e-6, 1e-5}) {
    const Correlation correlation{noise::NuFtrl{Damping{nu}, StepCount{4'000'000}}};
    long double sum = 0;
    long double c = 1;
    for (std::uint64_t t = 0; t < 3'000'000; ++t) {
      sum += c * c;
      c *= (2.0L * static_cast<long double>(t) + 1) / (2.0L * static_cast<long double>(t) + 2) * (1.0L - nu);
    }
    const double actual = std::pow(sensitivity(correlation, StepCount{3'000'000}, once).value(), 2);
    const double expected = static_cast<double>(sum);
    EXPECT_GE(actual, expected) << nu;
    EXPECT_NEAR(actual, expected, 4e-13 * expected) << nu;
  }
}

TEST(Sensitivity, StopsAtTheHorizon) {
  const std::vector<Correlation> finite = {
      Correlation{noise::NuFtrl{Damping{0}, StepCount{100}}},
      Correlation{noise::AntiPgd{StepCount{100}}},
      Correlation{noise::Strategy{{1, 0.5}, StepCount{100}}},
      Correlation{noise::Windowed{{1, -0.5}, StepCount{100}}},
      Correlation{noise::Windowed{{1, -0.5}, {}}, StepCount{100}},
      Correlation{noise::Rational::nu_ftrl(Damping{0.01}), StepCount{100}},
      Correlation{noise::NuFtrl{Damping{0.01}, {}}, StepCount{100}},
      Correlation{noise::Strategy{{1, 0.5}, StepCount{200}}, StepCount{100}},
      Correlation{noise::Dense(std::vector<double>(100, 1.0), 1, StepCount{100})},
      Correlation{noise::Dense(std::vector<double>(200, 1.0), 1, StepCount{200}), StepCount{100}},
  };
  for (const Correlation& correlation : finite) {
    EXPECT_NO_THROW((void)sensitivity(correlation, StepCount{100}, once)) << correlation.name();
    EXPECT_THROW((void)sensitivity(correlation, StepCount{101}, once), Unsupported) << correlation.name();
    EXPECT_EQ(sensitivity_limit(correlation, once), sensitivity(correlation, StepCount{100}, once));
  }
  const Correlation tree{noise::Tree{6, noise::Tree::Estimator::plain, false}};
  EXPECT_NO_THROW((void)sensitivity(tree, StepCount{64}, once));
  EXPECT_THROW((void)sensitivity(tree, StepCount{65}, once), Unsupported);
}

TEST(Sensitivity, OfNoStepsIsNotANumber) {
  EXPECT_THROW((void)sensitivity(Correlation{noise::Independent{}}, StepCount{0}, once), InvalidParameter);
}

TEST(Sensitivity, RefusesATableThatDoesNotFitIntoMemory) {
  const Correlation undamped{noise::NuFtrl{Damping{0}, StepCount{1'000'000'000}}};
  EXPECT_THROW((void)sensitivity_limit(undamped, {2, 10}), Unsupported);
}

TEST(Participation, IsValidByConstruction) {
  EXPECT_THROW(Participation(0, 1), InvalidParameter);
  EXPECT_THROW(Participation(1, 0), InvalidParameter);
  EXPECT_EQ(Participation(10, 100).times_within(StepCount{0}), 0U);
  EXPECT_EQ(Participation(10, 100).times_within(StepCount{100}), 1U);
  EXPECT_EQ(Participation(10, 100).times_within(StepCount{101}), 2U);
  EXPECT_EQ(Participation(10, 100).times_within(StepCount{UINT64_MAX}), 10U);
  EXPECT_EQ(Participation(UINT64_MAX, 1).times_within(StepCount{UINT64_MAX}), UINT64_MAX);
}

TEST(Displacement, ReplacingARecordMovesTwiceTheClipNorm) {
  EXPECT_EQ(displacement(ClipNorm{3}, Adjacency::zero_out).value(), 3);
  EXPECT_EQ(displacement(ClipNorm{3}, Adjacency::replace_one).value(), 6);
}

}  // namespace
}  // namespace nustream::privacy
