// Logistic and Poisson fits: how far a row reaches, what the steps spend, and what they find.
#include <gtest/gtest.h>

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/ranges/likelihood_fit.h"
#include "nustream/ranges/sizes.h"
#include "nustream/ranges/stride.h"
#include "ranges/scores.h"
#include "support/made_table.h"

namespace nustream::ranges {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
using Vector = Eigen::VectorXd;

using tests::noise_of;
using Made = tests::MadeTable;

std::vector<std::int64_t> no_noise(KeyStage, const noise::Grid&, std::size_t entries) {
  return std::vector<std::int64_t>(entries);
}

struct Row {
  Vector inputs;
  double target;
  double times = 1;
};

constexpr ScoreBounds bounds{2, 1.5, 0.7};

ScoreSums::Released sums_of(Likelihood likelihood, const std::vector<Row>& rows, const Vector& theta,
                            privacy::Adjacency adjacency = privacy::Adjacency::zero_out) {
  ScoreSums sums(likelihood, bounds, {adjacency}, Rho{1}, theta);
  for (const Row& row : rows) sums.add(row.inputs, row.target, row.times);
  return sums.release(no_noise, KeyStage::first_curvature, KeyStage::first_score);
}

/// A row of any size; some targets are values that no model has.
Row any_row(std::mt19937_64& random, Eigen::Index dimension) {
  std::normal_distribution<double> normal;
  const double sizes[] = {1e-300, 1e-6, 0.3, 1, 3, 1e3, 1e150, 1e300};
  const double targets[] = {0, 1, 7, -3, 1e12, -1e300, infinity, nan};
  Row row{Vector(dimension), targets[random() % std::size(targets)]};
  const double size = sizes[random() % std::size(sizes)];
  for (double& entry : row.inputs) entry = size * normal(random);
  if (random() % 20 == 0) row.inputs(0) = random() % 2 == 0 ? nan : infinity;
  const double times[] = {1, 0, 1e-300, 0.4, 7, 1e6, 1e300};
  row.times = times[random() % std::size(times)];
  return row;
}

class Scores : public ::testing::TestWithParam<Likelihood> {};

// The exact worst case is reached, so a test with half of this bound would fail.
TEST_P(Scores, MoveByNoMoreThanTheirSensitivity) {
  std::mt19937_64 random(5);
  double furthest_curvature = 0;
  double furthest_score = 0;
  double furthest_replaced = 0;
  for (int trial = 0; trial < 20'000; ++trial) {
    const auto d = static_cast<Eigen::Index>(1 + random() % 5);
    Vector theta = Vector::Random(d) * (trial % 3 == 0 ? 50 : 1);
    const Row row = any_row(random, d);
    const Row other = any_row(random, d);
    const ScoreSums::Released one = sums_of(GetParam(), {row}, theta);
    const ScoreSums::Released two = sums_of(GetParam(), {other}, theta);
    furthest_curvature = std::max(furthest_curvature, one.curvature.norm());
    furthest_score = std::max(furthest_score, one.score.norm());
    furthest_replaced = std::max(furthest_replaced, (one.curvature - two.curvature).norm());
    ASSERT_LE((one.score - two.score).norm(), 2 * bounds.inputs * bounds.residuals);
  }
  EXPECT_LE(furthest_curvature, bounds.curvature);
  EXPECT_GE(furthest_curvature, 0.99 * bounds.curvature);
  EXPECT_LE(furthest_score, bounds.inputs * bounds.residuals);
  EXPECT_GE(furthest_score, 0.99 * bounds.inputs * bounds.residuals);
  EXPECT_LE(furthest_replaced, std::sqrt(2) * bounds.curvature);
}

TEST_P(Scores, AreThePlainSumsWhereNothingIsLong) {
  std::mt19937_64 random(6);
  std::normal_distribution<double> normal;
  const Vector theta{{0.2, -0.1, 0.3}};
  std::vector<Row> rows;
  Eigen::MatrixXd curvature = Eigen::MatrixXd::Zero(3, 3);
  Vector score = Vector::Zero(3);
  for (int i = 0; i < 50; ++i) {
    Row row{Vector{{0.1, 0.2 * normal(random), 0.2 * normal(random)}}, i % 2 == 0 ? 1.0 : 0.0, 0.3 * (i % 4)};
    const double p = row.inputs.dot(theta);
    const double mean = GetParam() == Likelihood::logistic ? 1 / (1 + std::exp(-p)) : std::exp(p);
    const double weight = GetParam() == Likelihood::logistic ? mean * (1 - mean) : mean;
    curvature += row.times * weight * row.inputs * row.inputs.transpose();
    score += row.times * (row.target - mean) * row.inputs;
    rows.push_back(row);
  }
  const ScoreSums::Released found = sums_of(GetParam(), rows, theta);
  EXPECT_LT((found.curvature - curvature).norm(), 1e-6);
  EXPECT_LT((found.score - score).norm(), 1e-6);
}

// The squares of this row are finite and its share is subnormal: what is left of their product would exceed the
// bounds.
TEST(ScoresOfOneRow, AreZerosAtTheEdgeOfNumbers) {
  for (const double size : {1e154, 1.2e154, 1e150}) {
    const ScoreSums::Released sums =
        sums_of(Likelihood::poisson, {{Vector::Constant(1, size), 1}}, Vector::Constant(1, -6e-154));
    if (size > 1e153) {
      EXPECT_EQ(sums.curvature.norm(), 0) << size;
    }
    EXPECT_LE(sums.curvature.norm(), bounds.curvature) << size;
    EXPECT_LE(sums.score.norm(), bounds.inputs * bounds.residuals) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Scores, ::testing::Values(Likelihood::logistic, Likelihood::poisson));

TEST(ScoreNoise, IsThatOfTheBoundsUnderEachAdjacency) {
  const Vector theta = Vector::Zero(2);
  const auto stddevs = [&](privacy::Adjacency adjacency) {
    const ScoreSums::Released found = sums_of(Likelihood::poisson, {}, theta, adjacency);
    return std::pair(found.curvature_stddev, found.score_stddev);
  };
  const auto [curvature, score] = stddevs(privacy::Adjacency::zero_out);
  EXPECT_NEAR(curvature, 0.7 / std::sqrt(2 * 0.35), 1e-9);
  EXPECT_NEAR(score, 3 / std::sqrt(2 * 0.65), 1e-9);
  const auto [curvature_replaced, score_replaced] = stddevs(privacy::Adjacency::replace_one);
  EXPECT_NEAR(curvature_replaced / curvature, std::sqrt(2), 1e-9);
  EXPECT_NEAR(score_replaced / score, 2, 1e-9);
}

TEST(ScoreNoise, IsAdded) {
  ScoreSums sums(Likelihood::logistic, bounds, {privacy::Adjacency::zero_out}, Rho{1}, Vector::Zero(2));
  const ScoreSums::Released found = sums.release(noise_of(0), KeyStage::first_curvature, KeyStage::first_score);
  EXPECT_NE(found.curvature.norm(), 0);
  EXPECT_NE(found.score.norm(), 0);
}

constexpr double slopes[] = {0.08, -0.5};

/// The predictor is 0.08(a − 50) − 0.5 b + constant, with a about 50 ± 10 and b about 0 ± 1.
Made made_of(Likelihood likelihood, std::size_t rows, std::uint64_t seed, double constant = -0.5) {
  Made made{2, {}, {}};
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < rows; ++i) {
    const double a = 50 + 10 * normal(random);
    const double b = normal(random);
    made.x.insert(made.x.end(), {a, b});
    const double p = constant + slopes[0] * (a - 50) + slopes[1] * b;
    if (likelihood == Likelihood::logistic) {
      made.y.push_back(std::bernoulli_distribution(1 / (1 + std::exp(-p)))(random) ? 1 : 0);
    } else {
      made.y.push_back(std::poisson_distribution<int>(std::exp(p))(random));
    }
  }
  return made;
}

// The standard errors by sampling are at most .004 and .03 (logistic, 12,000 rows); the test allows five of them.
TEST(LikelihoodFit, FindsTheSlopes) {
  for (const Likelihood likelihood : {Likelihood::logistic, Likelihood::poisson}) {
    const Made made = made_of(likelihood, 20'000, 1);
    const TableFit fit = fit_likelihood(likelihood, made.table(), {Rho{1}}, noise_of(0));
    ASSERT_FALSE(fit.is_stopped);
    ASSERT_EQ(fit.theta.size(), 3U);
    EXPECT_TRUE(fit.is_settled);
    EXPECT_NEAR(fit.theta[1], slopes[0], 0.02);
    EXPECT_NEAR(fit.theta[2], slopes[1], 0.15);
    EXPECT_NEAR(fit.theta[0], -0.5 - 50 * slopes[0], 1);
    EXPECT_EQ(fit.variances.empty(), likelihood == Likelihood::poisson);
  }
}

// Over 200 keys and tables, a correct program at .95 would cover a share of .90 or less once in 300 runs, for each of
// two coefficients.
TEST(LikelihoodFit, IntervalsCoverTheTruth) {
  int covered[2] = {};
  int all = 0;
  for (std::uint8_t number = 0; number < 200; ++number) {
    const Made made = made_of(Likelihood::logistic, 6000, number);
    const TableFit fit = fit_likelihood(Likelihood::logistic, made.table(), {Rho{0.5}}, noise_of(number));
    if (fit.variances.empty()) continue;
    ++all;
    for (std::size_t j = 0; j < 2; ++j) {
      if (std::fabs(fit.theta[j + 1] - slopes[j]) <= 1.96 * std::sqrt(fit.variances[j + 1].variance)) ++covered[j];
    }
  }
  EXPECT_GE(all, 190);
  for (const int of_slope : covered) EXPECT_GE(of_slope, 0.905 * all);
}

// One label in a hundred and a feature that is 1 in one row of twenty: a step that is not short leaves an error
// beyond its noise. Of the intervals of such fits .80 held the truth of that feature's slope. Over 60 keys a program
// at .95 would miss at least 10 times once in 1,500 runs, if all showed intervals.
TEST(LikelihoodFit, IntervalsAreWithheldWhereTheLastStepIsNotShort) {
  int shown = 0;
  int missed = 0;
  for (std::uint8_t number = 0; number < 60; ++number) {
    std::mt19937_64 random(number);
    std::normal_distribution<double> normal;
    Made made{2, {}, {}};
    for (std::size_t i = 0; i < 20'000; ++i) {
      const double rare = std::bernoulli_distribution(0.05)(random) ? 1 : 0;
      made.x.insert(made.x.end(), {rare, normal(random)});
      made.y.push_back(std::bernoulli_distribution(1 / (1 + std::exp(4.6 - 0.8 * rare)))(random) ? 1 : 0);
    }
    const TableFit fit = fit_likelihood(Likelihood::logistic, made.table(), {Rho{0.1}}, noise_of(number));
    if (fit.variances.empty()) continue;
    ++shown;
    if (std::fabs(fit.theta[1] - 0.8) > 1.96 * std::sqrt(fit.variances[1].variance)) ++missed;
  }
  EXPECT_GE(shown, 10);
  EXPECT_LT(missed, 10);
  EXPECT_LE(missed, 0.12 * shown);
}

// The spend is computed from the noise that is drawn: in a logistic fit the bounds of every step are R_x, 1 and
// R_x²/4.
TEST(LikelihoodFit, StepsTogetherSpendRho) {
  const Made made = made_of(Likelihood::logistic, 20'000, 1);
  std::map<KeyStage, double> stddevs;
  const TableFit fit = fit_likelihood(Likelihood::logistic, made.table(), {Rho{1}}, tests::told_noise_of(0, stddevs));
  ASSERT_FALSE(fit.is_stopped);
  const double inputs = fit.bounds.inputs;
  double spent = 0;
  const std::pair<KeyStage, double> stages[] = {
      {KeyStage::first_curvature, inputs * inputs / 4},  {KeyStage::first_score, inputs},
      {KeyStage::second_curvature, inputs * inputs / 4}, {KeyStage::second_score, inputs},
      {KeyStage::third_curvature, inputs * inputs / 4},  {KeyStage::third_score, inputs},
      {KeyStage::last_curvature, inputs * inputs / 4},   {KeyStage::last_score, inputs}};
  for (const auto& [stage, moved] : stages) spent += std::pow(moved / stddevs.at(stage), 2) / 2;
  EXPECT_LE(spent, 1 + 1e-8);
  EXPECT_GE(spent, 1 - 1e-8);
}

// A row of the first part that moves within its bins is in no other release.
TEST(LikelihoodFit, IsUnchangedByRowsThatMoveWithinTheBinsOfTheirOnlyPart) {
  const Made made = made_of(Likelihood::poisson, 20'000, 1);
  Made moved = made;
  const Stride stride(20'000);
  const Sizes parts = sizes({20'000, 3, Rho{1}, privacy::Adjacency::zero_out});
  for (std::uint64_t place = 0; place < parts.columns; ++place) {
    double& value = moved.x[stride.position(place) * 2];
    if (octave_bin(value * 1.001) == octave_bin(value)) value *= 1.001;
  }
  ASSERT_NE(moved.x, made.x);
  EXPECT_EQ(fit_likelihood(Likelihood::poisson, made.table(), {Rho{1}}, noise_of(0)).theta,
            fit_likelihood(Likelihood::poisson, moved.table(), {Rho{1}}, noise_of(0)).theta);
}

TEST(LikelihoodFit, StopsWhereHardlyATargetIsOneOfTheModels) {
  Made made = made_of(Likelihood::logistic, 5000, 1);
  for (double& y : made.y) y = 2 * y - 1;  // targets of −1 and 1; no model has targets below 0
  for (std::size_t i = 0; i < made.y.size(); ++i) made.y[i] = i % 50 == 0 ? 1 : -1;
  const TableFit fit = fit_likelihood(Likelihood::logistic, made.table(), {Rho{1}}, noise_of(0));
  EXPECT_TRUE(fit.is_stopped);
  EXPECT_EQ(fit.unusable_column, 2U);
  EXPECT_TRUE(fit.theta.empty());
}

// The slopes have no limit: every step may be as long as it can, and no interval is claimed.
TEST(LikelihoodFit, ClaimsNoIntervalWhereTheClassesAreSeparate) {
  Made made = made_of(Likelihood::logistic, 20'000, 1);
  for (std::size_t i = 0; i < made.y.size(); ++i) made.y[i] = made.x[2 * i] > 50 ? 1 : 0;
  const TableFit fit = fit_likelihood(Likelihood::logistic, made.table(), {Rho{10}}, noise_of(0));
  ASSERT_FALSE(fit.theta.empty());
  EXPECT_GT(fit.theta[1], 3 * slopes[0]);
  EXPECT_TRUE(fit.variances.empty());
}

// A weighted likelihood is the same in whatever unit the weights are: a bound of 1 on residuals would cut off those
// of labels with weights above 1, more of the rarer label.
// The copy of a hides a direction: a and its copy have no answer, and b has one, whose noise is told.
TEST(LikelihoodFit, TellsTheNoiseOfWhatStandsBesideAHiddenDirection) {
  for (const Likelihood likelihood : {Likelihood::logistic, Likelihood::poisson}) {
    const Made two = made_of(likelihood, 20'000, 1);
    Made made{3, {}, two.y};
    for (std::size_t i = 0; i < two.y.size(); ++i) {
      made.x.insert(made.x.end(), {two.x[2 * i], two.x[2 * i + 1], two.x[2 * i]});
    }
    const TableFit fit = fit_likelihood(likelihood, made.table(), {Rho{1}}, noise_of(0));
    ASSERT_EQ(fit.floored, 1U);
    EXPECT_TRUE(fit.variances.empty());
    EXPECT_EQ(std::ranges::count(fit.undetermined, 2U), 0);
    for (const std::size_t copied : {1U, 3U}) EXPECT_EQ(std::ranges::count(fit.undetermined, copied), 1);
    ASSERT_EQ(fit.noise_stddevs.size(), 4U);
    EXPECT_GT(fit.noise_stddevs[2], 1e-4);
    EXPECT_LT(fit.noise_stddevs[2], 0.05);
    EXPECT_NEAR(fit.theta[2], slopes[1], 0.15);
  }
}

TEST(LikelihoodFit, OfLabelsDoesNotDependOnTheUnitOfTheirWeights) {
  const Made made = made_of(Likelihood::logistic, 20'000, 1);
  for (const double unit : {0.1, 1.0, 100.0}) {
    std::vector<double> weights;
    for (std::size_t i = 0; i < made.y.size(); ++i) weights.push_back(unit * static_cast<double>(1 + i % 9));
    const Table table{made.features, made.x, made.y, weights};
    const TableFit fit = fit_likelihood(Likelihood::logistic, table, {Rho{1}}, noise_of(0));
    ASSERT_EQ(fit.theta.size(), 3U);
    EXPECT_NEAR(fit.theta[1], slopes[0], 0.15 * std::fabs(slopes[0])) << unit;
    EXPECT_NEAR(fit.theta[2], slopes[1], 0.15 * std::fabs(slopes[1])) << unit;
  }
}

}  // namespace
}  // namespace nustream::ranges
