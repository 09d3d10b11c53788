// Fits of targets that have one value in most records: the others are few, and noise may hide them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "nustream/inference/least_squares.h"
#include "nustream/ranges/likelihood_fit.h"
#include "nustream/ranges/linear_fit.h"
#include "nustream/ranges/rows.h"
#include "ranges/residual_tails.h"
#include "support/made_table.h"

namespace nustream::ranges {
namespace {

using tests::noise_of;
using Made = tests::MadeTable;

/// Two normal features, and a target for each row by target(random, a, b).
template <class Target>
Made two_features(std::size_t rows, std::uint64_t seed, Target target) {
  Made made{2, {}, {}};
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < rows; ++i) {
    const double a = normal(random);
    const double b = normal(random);
    made.x.insert(made.x.end(), {a, b});
    made.y.push_back(target(random, a, b));
  }
  return made;
}

/// The target is `value` but for a share of the rows, where an exponential number is added whose mean depends on the
/// features.
Made mostly(double value, double share, std::size_t rows, std::uint64_t seed) {
  std::exponential_distribution<double> exponential;
  std::bernoulli_distribution is_other(share);
  return two_features(rows, seed, [&](std::mt19937_64& random, double a, double b) {
    return value + (is_other(random) ? exponential(random) * std::exp(0.3 * a - 0.2 * b) : 0);
  });
}

/// Counts whose mean is rate·exp(.4a − .3b).
Made rare_counts(double rate, std::size_t rows) {
  return two_features(rows, 5, [&](std::mt19937_64& random, double a, double b) {
    return std::poisson_distribution<int>(rate * std::exp(0.4 * a - 0.3 * b))(random);
  });
}

/// Labels that are 1 with the logit of `constant` + .8a − .4b.
Made labels(double constant, std::size_t rows) {
  return two_features(rows, 5, [&](std::mt19937_64& random, double a, double b) {
    return std::bernoulli_distribution(1 / (1 + std::exp(-constant - 0.8 * a + 0.4 * b)))(random) ? 1 : 0;
  });
}

/// The mean squared distance of the predictions from those of least squares, over the residuals' variance.
double excess(const Made& made, const std::vector<double>& theta) {
  std::vector<double> x;
  for (std::size_t i = 0; i < made.y.size(); ++i) x.insert(x.end(), {1, made.x[2 * i], made.x[2 * i + 1]});
  const std::vector<double> best = inference::ordinary_least_squares({3, x, made.y}).theta;
  double apart = 0;
  double residuals = 0;
  for (std::size_t i = 0; i < made.y.size(); ++i) {
    double prediction = 0;
    double other = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      prediction += best[j] * x[3 * i + j];
      other += theta[j] * x[3 * i + j];
    }
    apart += std::pow(other - prediction, 2);
    residuals += std::pow(made.y[i] - prediction, 2);
  }
  return apart / residuals;
}

// A constant at the one value has an excess of .05, .025 and .005. Over 20 keys the medians are .0003, .0004 and
// .0012.
TEST(TargetsOfMostlyOneValue, AreFittedByTheOthersToo) {
  for (const double value : {0.0, 7.0}) {
    for (const auto& [share, bar] : {std::pair{0.1, 0.002}, {0.05, 0.003}, {0.01, 0.004}}) {
      std::vector<double> found;
      for (std::uint8_t key = 0; key < 5; ++key) {
        const Made made = mostly(value, share, 30'000, key);
        const TableFit fit = fit_linear(made.table(), {Rho{0.1}}, noise_of(key));
        ASSERT_FALSE(fit.is_stopped) << value << ' ' << share;
        found.push_back(excess(made, fit.theta));
        EXPECT_GT(fit.bounds.residuals * fit.placements.back().scale, 0.4);
      }
      std::ranges::sort(found);
      EXPECT_LT(found[2], bar) << value << ' ' << share;
    }
  }
}

// Later sums are bounded by what is found here, about the pilot or about the centre.
TEST(TargetsOfMostlyOneValue, WidenTheBoundsOfLaterSums) {
  const TableFit fit = fit_linear(mostly(0, 0.05, 30'000, 1).table(), {Rho{0.1}}, noise_of(1));
  EXPECT_GT(fit.bounds.balanced * fit.placements.back().scale, 1);
  EXPECT_GT(fit.pilot.residuals * fit.placements.back().scale, 1);
}

// Nothing of the answer is drawn then. In 60 fits of such tables none went on.
TEST(TargetsOfMostlyOneValue, StopAFitWhereNoiseHidesAllOthers) {
  for (const double value : {0.0, 7.0}) {
    for (const double share : {0.0, 0.0005}) {
      std::map<KeyStage, double> drawn;
      const TableFit fit =
          fit_linear(mostly(value, share, 20'000, 1).table(), {Rho{0.01}}, tests::told_noise_of(1, drawn));
      EXPECT_TRUE(fit.is_stopped && fit.is_target_hidden) << value << ' ' << share;
      EXPECT_TRUE(drawn.contains(KeyStage::tails));
      EXPECT_FALSE(drawn.contains(KeyStage::target));
    }
  }
  const Made zeros = mostly(0, 0, 20'000, 1);
  EXPECT_TRUE(fit_likelihood(Likelihood::poisson, zeros.table(), {Rho{0.1}}, noise_of(1)).is_target_hidden);
}

// The steps of a model of labels always bring a length to judge, and noise decides whether the last one is short. So
// the count of the rarer label has to say that there is nothing to fit.
TEST(LabelsOfMostlyOneValue, AreSaidToBeHidden) {
  for (const double constant : {-40.0, 40.0, -9.0}) {
    const Made made = labels(constant, 20'000);
    for (const double rho : {0.1, 1.0}) {
      for (std::uint8_t key = 0; key < 10; ++key) {
        const TableFit fit = fit_likelihood(Likelihood::logistic, made.table(), {Rho{rho}}, noise_of(key));
        EXPECT_TRUE(fit.is_target_hidden && fit.variances.empty()) << constant << ' ' << rho << ' ' << int{key};
        EXPECT_FALSE(fit.is_stopped) << "the ranges of inputs stand";
      }
    }
  }
}

TEST(LabelsOfMostlyOneValue, AreFittedWhereTheRarerOneIsSeen) {
  for (const double constant : {-4.0, 0.0, 4.0}) {
    const Made made = labels(constant, 30'000);
    for (std::uint8_t key = 0; key < 10; ++key) {
      const TableFit fit = fit_likelihood(Likelihood::logistic, made.table(), {Rho{0.5}}, noise_of(key));
      EXPECT_FALSE(fit.is_target_hidden) << constant;
      ASSERT_EQ(fit.variances.size(), 3U) << constant << ' ' << int{key};
      EXPECT_NEAR(fit.theta[1], 0.8, 5 * std::sqrt(fit.variances[1].variance));
    }
  }
}

/// The standard deviation of a slope over 60 keys, and the mean of what the fits say of it.
std::pair<double, double> told_and_seen(const auto& fit) {
  constexpr int keys = 60;
  double sum = 0;
  double squares = 0;
  double told = 0;
  for (std::uint8_t key = 0; key < keys; ++key) {
    const TableFit found = fit(key);
    EXPECT_EQ(found.noise_stddevs.size(), found.theta.size());
    if (found.noise_stddevs.size() < 2) return {0, 0};
    sum += found.theta[1];
    squares += found.theta[1] * found.theta[1];
    told += found.noise_stddevs[1];
  }
  return {told / keys, std::sqrt((squares - sum * sum / keys) / (keys - 1))};
}

// The records are the same under every key, so that noise alone moves the answer. The deviation over 60 keys is off
// by 9% (one standard deviation), and the keys are fixed.
TEST(NoiseOfAFit, IsAboutAsLargeAsItSays) {
  const Made counts = rare_counts(2, 20'000);
  const auto [told, seen] = told_and_seen([&](std::uint8_t key) {
    return fit_likelihood(Likelihood::poisson, counts.table(), {Rho{0.1}}, noise_of(key));
  });
  EXPECT_NEAR(seen / told, 1, 0.2);
  const Made numbers = mostly(0, 1, 20'000, 1);
  const auto [linear, of_linear] =
      told_and_seen([&](std::uint8_t key) { return fit_linear(numbers.table(), {Rho{0.1}}, noise_of(key)); });
  EXPECT_NEAR(of_linear / linear, 1, 0.2);
}

// 1,000 ± .001 looks like one value until the residuals are known.
TEST(TargetsOfMostlyOneValue, AreNotThoseThatLieCloseTogether) {
  Made made{1, {}, {}};
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 30'000; ++i) {
    made.x.push_back(normal(random));
    made.y.push_back(1000 + 0.001 * (made.x.back() + normal(random)));
  }
  const TableFit fit = fit_linear(made.table(), {Rho{0.1}}, noise_of(1));
  ASSERT_FALSE(fit.is_stopped);
  EXPECT_NEAR(fit.theta[1], 0.001, 0.0001);
}

// By sampling the intercept's standard error is .02 and .06, and the slopes' are as large.
TEST(TargetsOfMostlyOneValue, AreFittedAsCounts) {
  for (const auto& [rate, within] : {std::pair{0.05, 0.15}, {0.01, 0.4}}) {
    const Made made = rare_counts(rate, 30'000);
    for (std::uint8_t key = 0; key < 3; ++key) {
      const TableFit fit = fit_likelihood(Likelihood::poisson, made.table(), {Rho{0.1}}, noise_of(key));
      ASSERT_FALSE(fit.is_stopped);
      EXPECT_NEAR(fit.theta[0], std::log(rate), within);
      EXPECT_NEAR(fit.theta[1], 0.4, within);
      EXPECT_NEAR(fit.theta[2], -0.3, within);
    }
  }
}

// Both histograms take a fifth of ρ, and the last score 65% of 65% of the rest.
// Where each row has the same weight, it says nothing. The start of counts that the columns do not see comes from
// residuals times the root of their weight.
TEST(TargetsOfMostlyOneValue, AreFittedAsCountsWhateverTheWeightOfAllRows) {
  const Made made = rare_counts(0.1, 20'000);
  for (const double weight : {100.0, 10'000.0}) {
    const std::vector<double> weights(made.y.size(), weight);
    Table table = made.table();
    table.weights = weights;
    const TableFit fit = fit_likelihood(Likelihood::poisson, table, {Rho{1}}, noise_of(3));
    ASSERT_FALSE(fit.is_stopped);
    EXPECT_NEAR(fit.theta[0], std::log(0.1), 0.1) << weight;
    EXPECT_NEAR(fit.theta[1], 0.4, 0.1) << weight;
  }
}

TEST(TargetsOfMostlyOneValue, SpendRhoAsCounts) {
  std::map<KeyStage, double> stddevs;
  const TableFit fit = fit_likelihood(Likelihood::poisson, rare_counts(0.02, 30'000).table(), {Rho{0.1}},
                                      tests::told_noise_of(1, stddevs));
  ASSERT_FALSE(fit.is_stopped);
  for (const KeyStage stage : {KeyStage::tails, KeyStage::last_tails}) {
    EXPECT_NEAR(1 / (2 * std::pow(stddevs.at(stage), 2)), 0.02, 1e-6);
  }
  const double move = fit.bounds.inputs * fit.bounds.residuals;
  EXPECT_NEAR(move * move / (2 * std::pow(stddevs.at(KeyStage::last_score), 2)), 0.06 * 0.65 * 0.65, 1e-6);
}

/// The tails of residuals that are 1 in 20,000 rows and `far` in `others` more, by octaves that end at 1, under noise
/// of a deviation of 10 that happens to be 0.
ResidualTails tails_of(std::size_t others, double far) {
  const HistogramDesign design{1, 2 * length_bins};
  ExactCounts counts(design);
  const auto add = [&](double residual) {
    const std::size_t bin[] = {length_bin(residual)};
    counts.add(bin);
  };
  for (std::size_t i = 0; i < 20'000; ++i) add(1);
  for (std::size_t i = 0; i < others; ++i) add(far * std::exp2(0.5 * static_cast<double>(i % 4)));
  const CountNoise mechanism(design, Rho{1.0 / 200});
  return ResidualTails(NoisyCounts(counts, mechanism, std::vector<std::int64_t>(design.entries())), 1);
}

// 120 residuals in four bins are 6 deviations of the noise in their sum, and 100 are 5.
TEST(ResidualTails, ReachBeyondTheOctavesWhereBinsStandOutTogether) {
  const ResidualTails seen = tails_of(120, 1100);
  EXPECT_EQ(seen.longest(), tails_of(0, 0).longest());
  EXPECT_GT(seen.longest_together(), 2 * 1100);
  EXPECT_GT(seen.most(), 2 * 1100);
  EXPECT_NEAR(seen.sum_of_squares(seen.most()), 20'000 + 30 * 1100.0 * 1100 * 15, 0.3 * 30 * 1100.0 * 1100 * 15);
  const ResidualTails hidden = tails_of(100, 1100);
  EXPECT_EQ(hidden.most(), 1);
  EXPECT_LT(hidden.longest_together(), 2);
}

}  // namespace
}  // namespace nustream::ranges
