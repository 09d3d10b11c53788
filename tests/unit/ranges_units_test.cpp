// Fits do not depend on the units of weights, exposures and counts. The same noise is drawn in all units, so that
// answers differ by rounding alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "nustream/ranges/likelihood_fit.h"
#include "nustream/ranges/linear_fit.h"
#include "nustream/ranges/sizes.h"
#include "nustream/ranges/stride.h"
#include "ranges/scores.h"
#include "support/made_table.h"

namespace nustream::ranges {
namespace {

constexpr std::size_t rows = 20'000;
constexpr double most = 10;  // the bound of weights and of exposures, where their unit is 1
constexpr double slopes[] = {0.08, -0.5};

/// Rows with an a about 50 ± 10, a b about 0 ± 1, and a number from 0 to `most`, which is a weight or an exposure.
struct Weighed {
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> weights;
  PublicUnits units;

  [[nodiscard]] Table table() const { return {2, x, y, weights, {}, units}; }
};

/// `draw(predictor, weight, random)` draws a target. The predictor is 0.08(a − 50) − 0.5 b − 0.5.
template <class Draw>
Weighed weighed(const Draw& draw) {
  Weighed made;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < rows; ++i) {
    const double a = 50 + 10 * normal(random);
    const double b = normal(random);
    made.x.insert(made.x.end(), {a, b});
    made.weights.push_back(std::min(most, std::exp(normal(random))));
    made.y.push_back(draw(-0.5 + slopes[0] * (a - 50) + slopes[1] * b, made.weights.back(), random));
  }
  return made;
}

/// Counts over exposures, as rates, where a day is `unit` long.
Weighed rates(double unit) {
  Weighed made = weighed([](double predictor, double days, std::mt19937_64& random) {
    return static_cast<double>(std::poisson_distribution<int>(days * std::exp(predictor))(random));
  });
  made.units.exposure = unit * most;
  for (std::size_t i = 0; i < rows; ++i) {
    made.weights[i] *= unit;
    made.y[i] /= made.weights[i];
  }
  return made;
}

Weighed labels(double unit) {
  Weighed made = weighed([](double predictor, double, std::mt19937_64& random) {
    return std::bernoulli_distribution(1 / (1 + std::exp(-predictor)))(random) ? 1.0 : 0.0;
  });
  made.units.weight = unit * most;
  for (double& weight : made.weights) weight *= unit;
  return made;
}

/// Rows that count more lie on another plane, so that an answer which counts all rows alike differs.
Weighed numbers(double unit) {
  Weighed made = weighed([](double predictor, double weight, std::mt19937_64& random) {
    return weight * predictor + std::normal_distribution<double>()(random);
  });
  made.units.weight = unit * most;
  for (double& weight : made.weights) weight *= unit;
  return made;
}

TableFit poisson(const Weighed& made) {
  return fit_likelihood(Likelihood::poisson, made.table(), {Rho{0.5}}, tests::noise_of(2));
}

/// Powers of two round nothing. In other units a record in some thousands may fall into another bin by rounding.
struct Unit {
  double unit;
  double rounding;
};
constexpr Unit all_units[] = {{0x1p-30, 1e-9}, {0x1p30, 1e-9}, {1e-6, 2e-3}, {1e9, 2e-3}};

// In units in which a rate is below .001 the answer was off by e⁴, and it said that it had settled.
TEST(PublicUnits, OfExposuresMoveTheInterceptAlone) {
  const TableFit days = poisson(rates(1));
  ASSERT_EQ(days.theta.size(), 3U);
  EXPECT_NEAR(days.theta[0], -0.5 - 50 * slopes[0], 0.3);
  EXPECT_NEAR(days.theta[1], slopes[0], 0.005);
  EXPECT_NEAR(days.theta[2], slopes[1], 0.05);
  for (const auto& [unit, rounding] : all_units) {
    const TableFit found = poisson(rates(unit));
    ASSERT_EQ(found.theta.size(), 3U) << unit;
    EXPECT_TRUE(found.is_settled) << unit;
    EXPECT_NEAR(found.theta[0] + std::log(unit), days.theta[0], 50 * rounding) << unit;
    EXPECT_NEAR(found.theta[1], days.theta[1], rounding) << unit;
    EXPECT_NEAR(found.theta[2], days.theta[2], 10 * rounding) << unit;
    EXPECT_NEAR(found.noise_stddevs[2] / days.noise_stddevs[2], 1, 10 * rounding) << unit;
  }
}

// What is found besides the answer is in the table's own units, in which settings are written.
TEST(PublicUnits, AreThoseOfTheTableInWhatIsFound) {
  const double unit = 0x1p30;
  const double root = std::sqrt(unit);
  const TableFit days = poisson(rates(1));
  const TableFit other = poisson(rates(unit));
  const auto expect_times = [](double found, double factor, double one) {
    EXPECT_NEAR(found / (factor * one), 1, 1e-9) << one;
  };
  expect_times(other.bounds.inputs, root, days.bounds.inputs);
  expect_times(other.bounds.residuals, 1 / root, days.bounds.residuals);
  expect_times(other.bounds.curvature, 1, days.bounds.curvature);
  expect_times(other.pilot.inputs, root, days.pilot.inputs);
  expect_times(other.largest_second, unit, days.largest_second);
  expect_times(other.mean_weight, unit, days.mean_weight);
  expect_times(other.placements.back().scale, 1 / unit, days.placements.back().scale);
  expect_times(other.intervals.back().high, 1 / unit, days.intervals.back().high);
  // A bound of residuals is √E times as large as the rates, whose deviation is about the root of rate over E.
  EXPECT_GT(days.bounds.residuals, 1);
  EXPECT_LT(days.bounds.residuals, 20);
  double mean = 0;
  for (const double weight : rates(1).weights) mean += weight / rows;
  EXPECT_NEAR(days.mean_weight, mean, 0.1 * mean);
}

TEST(PublicUnits, OfWeightsChangeNothing) {
  const Unit units[] = {{0x1p100, 1e-9}, {0x1p-50, 1e-9}, {1e30, 2e-3}, {1e-15, 2e-3}};
  for (const bool are_labels : {true, false}) {
    const auto fit = [&](double unit) {
      if (!are_labels) return fit_linear(numbers(unit).table(), {Rho{0.5}}, tests::noise_of(2));
      return fit_likelihood(Likelihood::logistic, labels(unit).table(), {Rho{0.5}}, tests::noise_of(2));
    };
    const TableFit one = fit(1);
    ASSERT_EQ(one.theta.size(), 3U);
    for (const auto& [unit, rounding] : units) {
      const TableFit found = fit(unit);
      ASSERT_EQ(found.theta.size(), 3U) << unit;
      for (std::size_t j = 0; j < 3; ++j) {
        EXPECT_NEAR(found.theta[j], one.theta[j], 10 * rounding * std::fabs(one.theta[j])) << unit;
      }
      EXPECT_NEAR(found.bounds.inputs / (std::sqrt(unit) * one.bounds.inputs), 1, 10 * rounding) << unit;
      EXPECT_NEAR(found.pilot.residuals / (std::sqrt(unit) * one.pilot.residuals), 1, 10 * rounding) << unit;
    }
  }
}

TEST(PublicUnits, OfWeightAndExposureTogetherMoveTheInterceptAlone) {
  const auto fit = [](double unit_of_weights, double unit_of_days) {
    Weighed made = rates(unit_of_days);
    made.units.weight = 3 * unit_of_weights;
    for (std::size_t i = 0; i < rows; ++i) made.weights[i] *= unit_of_weights * static_cast<double>(1 + i % 3);
    return poisson(made);
  };
  const TableFit one = fit(1, 1);
  const TableFit other = fit(0x1p-60, 0x1p20);
  ASSERT_EQ(other.theta.size(), 3U);
  EXPECT_NEAR(other.theta[0] + 20 * std::log(2), one.theta[0], 1e-9);
  EXPECT_NEAR(other.theta[1], one.theta[1], 1e-9);
  EXPECT_NEAR(other.theta[2], one.theta[2], 1e-9);
  EXPECT_NEAR(other.bounds.residuals / one.bounds.residuals, 0x1p-40, 1e-50);
}

// Neither does a bound that says little of the exposures, or one that none of them keeps.
TEST(PublicUnits, MayBeFarFromAllExposures) {
  for (const double factor : {1e-5, 1e5}) {
    Weighed made = rates(1);
    made.units.exposure = factor * most;
    for (double& weight : made.weights) weight = std::min(weight, factor * most);
    const TableFit fit = poisson(made);
    ASSERT_EQ(fit.theta.size(), 3U) << factor;
    EXPECT_TRUE(fit.is_settled) << factor;
    EXPECT_NEAR(fit.theta[0], -0.5 - 50 * slopes[0], 0.5) << factor;
    EXPECT_NEAR(fit.theta[1], slopes[0], 0.01) << factor;
    EXPECT_NEAR(fit.theta[2], slopes[1], 0.1) << factor;
  }
}

// The start goes by the noise: a least mean of .001 was too high for small numbers, and no step found the way down.
TEST(LikelihoodFit, FindsTheSlopesOfSmallTargets) {
  for (const double unit : {1e-5, 1e-3, 1e3}) {
    Weighed made = weighed([&](double predictor, double, std::mt19937_64& random) {
      return unit * std::poisson_distribution<int>(std::exp(predictor))(random);
    });
    made.weights.clear();
    const TableFit fit = poisson(made);
    ASSERT_EQ(fit.theta.size(), 3U) << unit;
    EXPECT_TRUE(fit.is_settled) << unit;
    EXPECT_NEAR(fit.theta[0] - std::log(unit), -0.5 - 50 * slopes[0], 0.5) << unit;
    EXPECT_NEAR(fit.theta[1], slopes[0], 0.01) << unit;
    EXPECT_NEAR(fit.theta[2], slopes[1], 0.1) << unit;
  }
}

/// The means of counts in the parts of a fit.
struct Means {
  double columns;  ///< in those before the pilot's
  double pilot;
  double later;
};

/// A fit of counts over a feature that has no influence on them.
TableFit fit_of(const Means& means, std::uint8_t number) {
  const Rho rho{1};
  tests::MadeTable made{1, {}, std::vector<double>(rows)};
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < rows; ++i) made.x.push_back(normal(random));
  const Stride stride(rows);
  const Sizes parts = sizes({rows, 2, rho, privacy::Adjacency::zero_out});
  const std::uint64_t of_columns = 2 * parts.columns + parts.rows;
  for (std::uint64_t place = 0; place < rows; ++place) {
    const double mean = place < of_columns                 ? means.columns
                        : place < of_columns + parts.pilot ? means.pilot
                                                           : means.later;
    made.y[stride.position(place)] = mean > 0 ? std::poisson_distribution<int>(mean)(random) : 0;
  }
  const TableFit fit = fit_likelihood(Likelihood::poisson, made.table(), {rho}, tests::noise_of(number));
  EXPECT_EQ(fit.zooms, 0U) << "a closer look takes a part more";
  EXPECT_EQ(fit.theta.size(), 2U);
  return fit;
}

// A step down to the mean of counts is at most 1 long, so that its length does not tell how far off it still is. From
// a mean of 8 to one of .02 are six steps.
TEST(LikelihoodFit, HasNotSettledWhereTheLastStepBeganFarAboveTheMeanOfCounts) {
  const TableFit far = fit_of({8, 8, 0.02}, 2);
  EXPECT_GT(far.theta.at(0), std::log(0.02) + 1) << "the steps come nearer than this test thinks";
  EXPECT_FALSE(far.is_settled);
  const TableFit near = fit_of({8, 8, 2}, 2);
  EXPECT_NEAR(near.theta.at(0), std::log(2), 0.1);
  EXPECT_TRUE(near.is_settled);
}

// The pilot's noise hides a mean of 0. The other parts either show the mean, or the fit says that it has not settled:
// from a start at .001 whatever the noise was it came to be off by 3, with a noise of .001 beside it.
TEST(LikelihoodFit, StartsFromWhatTheNoiseDoesNotHide) {
  for (std::uint8_t number = 0; number < 10; ++number) {
    const TableFit seen = fit_of({5, 0, 0.05}, number);
    EXPECT_NEAR(seen.theta.at(0), std::log(0.05), 0.1) << int{number};
    EXPECT_TRUE(seen.is_settled) << int{number};
    const TableFit hidden = fit_of({5, 0, 0.0005}, number);
    const double off = std::fabs(hidden.theta.at(0) - std::log(0.0005));
    EXPECT_TRUE(off < 1 || !hidden.is_settled) << int{number} << ": " << off;
    EXPECT_LT(off, 15) << int{number};
  }
}

TEST(RatioOfMeans, IsThatOfTheCountsToTheModel) {
  const Eigen::VectorXd theta{{std::log(4.0), 0.0}};
  const Eigen::VectorXd constant{{1.0, 0.0}};
  ScoreSums sums(Likelihood::poisson, {2, 10, 100}, {privacy::Adjacency::zero_out}, Rho{1}, theta);
  for (int i = 0; i < 100; ++i) sums.add(Eigen::VectorXd{{1.0, i % 2 == 0 ? 0.5 : -0.5}}, 1);
  const auto no_noise = [](KeyStage, const noise::Grid&, std::size_t entries) {
    return std::vector<std::int64_t>(entries);
  };
  ScoreSums::Released found = sums.release(no_noise, KeyStage::first_curvature, KeyStage::first_score);
  EXPECT_NEAR(ratio_of_means(found, constant), 0.25, 1e-6);
  found.curvature *= -1;
  EXPECT_EQ(ratio_of_means(found, constant), 0);
}

}  // namespace
}  // namespace nustream::ranges
