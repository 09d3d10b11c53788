// What the worst pattern over several windows costs, against an exhaustive search over all patterns, and against
// patterns that are long enough for correlations without a horizon.
#include "nustream/privacy/windows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/privacy/sensitivity.h"
#include "privacy_random.h"
#include "privacy_windows_brute_force.h"

namespace nustream::privacy {
namespace {

using noise::Correlation;

/// Correlations of which no order of patterns is known: c changes sign, or C is not Toeplitz.
Correlation wandering_over_windows(Random& random, std::uint64_t steps) {
  switch (random.integer(0, 3)) {
    case 0:
      return Correlation{noise::Windowed{{1, random.real(-0.6, 0.6), random.real(-0.6, 0.6)}, StepCount{steps}}};
    case 1:
      return Correlation{noise::Strategy{{1, random.real(-1, 1), random.real(-1, 1)}, StepCount{steps}}};
    case 2: {
      const Correlation block{noise::NuFtrl{Damping{random.real(0, 0.3)}, StepCount{random.integer(1, steps)}}};
      return Correlation{noise::Restarted{block}};
    }
    default: {
      std::vector<double> rows;
      for (std::uint64_t t = 0; t < steps; ++t) {
        for (std::uint64_t i = 0; i < t; ++i) rows.push_back(random.real(-0.5, 0.7));
        rows.push_back(random.real(0.5, 1.5));
      }
      return Correlation{noise::Dense{rows, steps, StepCount{steps}}};
    }
  }
}

std::string words(const Correlation& correlation, std::uint64_t steps, const Participation& within,
                  std::uint64_t windows) {
  return correlation.name() + ", T " + std::to_string(steps) + ", k " + std::to_string(within.times()) + ", b " +
         std::to_string(within.separation()) + ", P " + std::to_string(windows);
}

TEST(SensitivityOverWindows, IsThatOfTheWorstPatternWhereTheColumnFalls) {
  Random random{std::mt19937_64{20240229}};
  for (int trial = 0; trial < 300; ++trial) {
    const std::uint64_t steps = random.integer(1, 9);
    const std::uint64_t windows = random.integer(1, 4);
    const Participation within = random.participation(3, 4);
    const Correlation correlation = falling_correlation(random, steps);
    const auto found = sensitivity_over_windows(correlation, StepCount{steps}, within, windows);
    const double exact = std::sqrt(brute_force::squared_over_windows(correlation, steps, within, windows));
    EXPECT_TRUE(found.is_reached) << words(correlation, steps, within, windows);
    EXPECT_GE(found.sensitivity.value(), exact * (1 - 1e-13)) << words(correlation, steps, within, windows);
    EXPECT_LE(found.sensitivity.value(), exact * (1 + 1e-8)) << words(correlation, steps, within, windows);
  }
}

TEST(SensitivityOverWindows, IsNeverBelowAnyPatternsNorAboveTheTriangleInequality) {
  Random random{std::mt19937_64{31}};
  for (int trial = 0; trial < 300; ++trial) {
    const std::uint64_t steps = random.integer(1, 9);
    const std::uint64_t windows = random.integer(1, 3);
    const Participation within = random.participation(3, 4);
    const Correlation correlation = wandering_over_windows(random, steps);
    const auto found = sensitivity_over_windows(correlation, StepCount{steps}, within, windows);
    const double exact = std::sqrt(brute_force::squared_over_windows(correlation, steps, within, windows));
    const double apart = sensitivity(correlation, StepCount{steps}, within).value();
    EXPECT_GE(found.sensitivity.value(), exact * (1 - 1e-13)) << words(correlation, steps, within, windows);
    EXPECT_LE(found.sensitivity.value(), apart * static_cast<double>(windows) * (1 + 1e-15));
    if (found.is_reached) {
      EXPECT_LE(found.sensitivity.value(), exact * (1 + 1e-8)) << words(correlation, steps, within, windows);
    }
  }
}

TEST(SensitivityOverWindows, OfATreeIsNeverBelowItsNodes) {
  const Correlation tree{noise::Tree{3, noise::Tree::Estimator::plain, false}};
  for (const Participation& within : {Participation{1, 1}, Participation{2, 3}, Participation{3, 2}}) {
    double exact = 0;
    brute_force::for_each_windowed(8, within, 2, [&](const std::vector<std::size_t>& taken) {
      double sum = 0;
      for (unsigned level = 0; level <= 3; ++level) {
        std::vector<double> below(8U >> level, 0.0);
        for (const std::size_t t : taken) below[t >> level] += 1;
        for (const double count : below) sum += count * count;
      }
      exact = std::max(exact, sum);
    });
    const auto found = sensitivity_over_windows(tree, StepCount{8}, within, 2);
    EXPECT_GE(std::pow(found.sensitivity.value(), 2), exact * (1 - 1e-12));
    EXPECT_FALSE(found.is_reached);
  }
}

/// The largest ‖Σ C e_t‖² over all counts of the windows, each window right behind the one before, from a column that
/// is long enough for C to have no horizon.
double largest_over_counts(const std::vector<double>& c, const Participation& within, std::uint64_t windows) {
  double largest = 0;
  const std::function<void(std::uint64_t, std::size_t, std::vector<double>)> deal =
      [&](std::uint64_t window, std::size_t begin, std::vector<double> sum) {
        if (window == windows) {
          double square = 0;
          for (const double entry : sum) square += entry * entry;
          largest = std::max(largest, square);
          return;
        }
        for (std::uint64_t n = 0; n < within.times(); ++n) {
          const std::size_t at = begin + n * within.separation();
          for (std::size_t t = at; t < sum.size(); ++t) sum[t] += c[t - at];
          deal(window + 1, at + 1, sum);
        }
      };
  deal(0, 0, std::vector<double>(c.size(), 0.0));
  return largest;
}

TEST(SensitivityOverWindows, WithoutAHorizonIsTheSupremum) {
  for (const double nu : {0.02, 0.2}) {
    const Correlation rational{noise::Rational::nu_ftrl(Damping{nu})};
    const Correlation window{noise::Windowed{{1, -0.5, -0.1, -0.05}, {}}};
    for (const Correlation& correlation : {rational, window}) {
      const std::vector<double> c = noise::strategy_coefficients(correlation, 3000);
      for (const Participation& within : {Participation{2, 3}, Participation{3, 7}, Participation{4, 2}}) {
        for (const std::uint64_t windows : {2U, 3U, 4U}) {
          const auto found = sensitivity_over_windows(correlation, {}, within, windows);
          const double exact = std::sqrt(largest_over_counts(c, within, windows));
          EXPECT_GE(found.sensitivity.value(), exact * (1 - 1e-13)) << words(correlation, 0, within, windows);
          EXPECT_LE(found.sensitivity.value(), exact * (1 + 1e-8)) << words(correlation, 0, within, windows);
          EXPECT_TRUE(found.is_reached);
          const auto part = sensitivity_over_windows(correlation, StepCount{200}, within, windows);
          EXPECT_LE(part.sensitivity.value(), found.sensitivity.value() * (1 + 1e-12));
        }
      }
    }
  }
}

// Where b is long and c is flat for some steps, a window in the middle is worst with a single step: its neighbours
// then lie side by side. With all windows full, too little would be claimed.
TEST(SensitivityOverWindows, CountsOnShortWindowsInTheMiddle) {
  const Participation within{3, 12};
  const Correlation flat{noise::Strategy{std::vector<double>(12, 1.0), StepCount{1000}}};
  const double full = 12.0 * (8 * 3) + 2 * 7 * 11;  // each border has two neighbours
  const double found = std::pow(sensitivity_over_windows(flat, {}, within, 8).sensitivity.value(), 2);
  EXPECT_NEAR(found, 600 + 4 * 12, 1e-5);  // 3, 1, 1, 1, 1, 1, 1, 3: eight neighbours and four others
  EXPECT_GT(found, 1.4 * full);
}

// Twelve windows have too many counts to try all of them. The search ends all the same, with what a pattern costs.
TEST(SensitivityOverWindows, SearchesManyWindows) {
  for (const double nu : {1e-3, 1e-2}) {
    const Correlation correlation{noise::Rational::nu_ftrl(Damping{nu})};
    for (const Participation& within : {Participation{4, 10}, Participation{4, 100}, Participation{16, 4}}) {
      const auto found = sensitivity_over_windows(correlation, {}, within, 12);
      EXPECT_TRUE(found.is_reached) << nu << ", " << within.times() << ", " << within.separation();
      EXPECT_LT(found.sensitivity.value(), 12 * sensitivity_limit(correlation, within).value());
      EXPECT_GT(found.sensitivity.value(), std::sqrt(12.0) * sensitivity_limit(correlation, within).value());
    }
  }
}

// What is too large to be searched has a bound nevertheless.
TEST(SensitivityOverWindows, BoundsWhatIsTooLargeToBeSearched) {
  const Correlation correlation{noise::Rational::nu_ftrl(Damping{.01})};
  for (const std::uint64_t windows : {2U, 100U}) {
    const Participation within{100'000, 3};
    const auto found = sensitivity_over_windows(correlation, {}, within, windows);
    EXPECT_FALSE(found.is_reached);
    EXPECT_NEAR(found.sensitivity.value(),
                static_cast<double>(windows) * sensitivity_limit(correlation, within).value(), 1e-6);
  }
  const Correlation finite{noise::NuFtrl{Damping{0}, StepCount{2000}}};
  const Participation often{12, 40};
  const auto bound = sensitivity_over_windows(finite, {}, often, 12);
  EXPECT_FALSE(bound.is_reached);
  EXPECT_LT(bound.sensitivity.value(), 0.8 * 12 * sensitivity_limit(finite, often).value());
}

TEST(SensitivityOverWindows, OfOneWindowIsTheSensitivity) {
  const Correlation correlation{noise::Rational::nu_ftrl(Damping{.01})};
  const Participation within{4, 3};
  EXPECT_EQ(sensitivity_over_windows(correlation, {}, within, 1).sensitivity, sensitivity_limit(correlation, within));
  EXPECT_EQ(sensitivity_over_windows(correlation, StepCount{20}, within, 1).sensitivity,
            sensitivity(correlation, StepCount{20}, within));
  EXPECT_THROW(static_cast<void>(sensitivity_over_windows(correlation, {}, within, 0)), InvalidParameter);
}

}  // namespace
}  // namespace nustream::privacy
