// Expected errors where they are known in another way: by integration, in limits, and by a small simulation. The
// benchmark estimator_grid compares them with 24 streams.
#include "nustream/moments/expected_error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "nustream/base/error.h"
#include "nustream/moments/budget.h"
#include "nustream/moments/choice.h"
#include "nustream/noise/rational.h"

namespace nustream::moments {
namespace {

using inference::DescentDesign;
using inference::ExpectedError;
using inference::StreamGuess;

const noise::Correlation correlation{noise::Rational::nu_ftrl(Damping{1e-4})};

/// A descent almost without noise, and without clipping.
DescentDesign quiet(double step_size, std::uint64_t from, std::uint64_t steps) {
  return {correlation, StepSize{step_size}, ClipNorm{1e6}, NoiseStddev{1e-9}, 1, {from, steps}};
}

TEST(ClippedResiduals, AreWhatIntegrationSays) {
  for (const auto& [s, bound] : {std::pair{1.0, 0.5}, std::pair{2.0, 3.0}, std::pair{0.3, 2.0}}) {
    double kept = 0;
    double squares = 0;
    constexpr int cells = 200'000;
    for (int i = 0; i < cells; ++i) {
      const double r = s * (-9 + 18 * (i + 0.5) / cells);
      const double density = std::exp(-r * r / (2 * s * s)) * 18 / cells / std::sqrt(2 * M_PI);
      kept += std::abs(r) < bound ? density : 0;
      squares += std::pow(std::clamp(r, -bound, bound), 2) * density;
    }
    EXPECT_NEAR(inference::kept_share(s, bound), kept, 1e-4);
    EXPECT_NEAR(inference::clipped_variance(s, bound), squares, 1e-4);
  }
}

TEST(SquaredRowNorms, HaveTheMeanAndTheVarianceOfNormalRows) {
  const StreamGuess guess{{1.0, 0.5, 0.1}, 1, 1};
  double mean = 0;
  double squares = 0;
  const std::vector<double> norms = inference::squared_row_norms(guess);
  for (const double each : norms) mean += each / static_cast<double>(norms.size());
  for (const double each : norms) squares += std::pow(each - mean, 2) / static_cast<double>(norms.size());
  EXPECT_NEAR(mean, 1.6, 0.03);
  EXPECT_NEAR(squares, 2 * 1.26, 0.3);
}

// Without noise and clipping the start fades as (1 − ηλ)^t, and the average of n iterates varies like that of n
// records.
TEST(ExpectedErrorOfADescent, HasTheLimitsOfPlainDescent) {
  const StreamGuess far{{0.5, 0.5}, 1e-6, 3};
  const ExpectedError start = inference::expected_errors(far, quiet(0.01, 0, 1000)).last;
  EXPECT_NEAR(start.start / (0.5 * 9 * std::pow(1 - 0.005, 2000)), 1, 0.01);
  const StreamGuess near{{1.0, 0.25}, 2, 0};
  const ExpectedError average = inference::expected_errors(near, quiet(0.001, 100'000, 400'000)).average;
  EXPECT_NEAR(average.sampling, 2 * 4 / 300'000.0, 0.05 * 2 * 4 / 300'000.0);
  EXPECT_LT(average.start + average.privacy, 0.01 * average.sampling);
}

// Clipped gradients are no longer than G: with η G = .001, 10,000 steps move a start that is 100 away by no more than
// 10.
TEST(ExpectedErrorOfADescent, KnowsHowSlowlyClippedStepsLeaveTheStart) {
  const StreamGuess guess{{1.0}, 1, 100};
  DescentDesign design = quiet(0.001, 5'000, 10'000);
  design.clip = ClipNorm{1};
  EXPECT_GT(std::sqrt(inference::expected_errors(guess, design).last.start), 85);
}

TEST(ExpectedErrorOfADescent, IsInfiniteWhereStepsAreTooLong) {
  const StreamGuess guess{{1.0}, 1, 1};
  EXPECT_EQ(inference::expected_errors(guess, quiet(2.5, 0, 10)).last.root(), INFINITY);
}

Problem problem(double rho) {
  return {{{1.0, 0.5, 0.2}, 1, 1}, 20'000, Rho{rho}, privacy::Adjacency::zero_out, 1000, true};
}

// With next to no noise, sums give least squares whatever the centre is, and wide bounds cut nothing off.
TEST(ExpectedErrorOfSums, IsLeastSquaresWithoutNoise) {
  const Problem quiet_problem = problem(1e9);
  const SumsChoice wide{.radii = {100, 1, 100}};
  const ExpectedError error = expected_error(quiet_problem.guess, sums_settings(quiet_problem, wide), StepCount{20});
  EXPECT_NEAR(error.total(), 3 / 20'000.0, 1e-3 * 3 / 20'000.0);
  // A residual bound of half a deviation about a far centre leaves most of the way to go.
  const SumsChoice narrow{.radii = {100, 1, 0.5}};
  StreamGuess far = quiet_problem.guess;
  far.distance = 10;
  EXPECT_GT(expected_error(far, sums_settings(quiet_problem, narrow), StepCount{20}).start, 20);
}

// About a far centre nearly all of a residual is what is solved for, and long rows keep another share of it than
// short ones. What is left for sampling is a mean of squares, and so never below 0.
TEST(ExpectedErrorOfSums, LeavesNoLessThanNothingToSampling) {
  for (const double distance : {0.0, 3.0, 30.0, 300.0}) {
    Problem far = problem(1);
    far.guess.distance = distance;
    for (const double inputs : {0.3, 1.0, 3.0}) {
      for (const double target : {0.1, 1.0, 10.0, 100.0}) {
        const SumsChoice choice{.radii = {inputs, 1, target}};
        const ExpectedError error = expected_error(far.guess, sums_settings(far, choice), StepCount{20});
        EXPECT_GT(error.sampling, 0) << distance << " away, R " << inputs << ", T " << target;
      }
    }
  }
}

TEST(ExpectedErrorOfSums, GrowsAsTheBudgetShrinks) {
  double before = 0;
  for (const double rho : {10.0, 1.0, 0.1, 0.01}) {
    const ExpectedError error = best_sums(problem(rho), 0)->error;
    EXPECT_GT(error.total(), before);
    before = error.total();
  }
}

// Noise hides every direction: the answer is then the centre, which is about as far away as the guess says.
TEST(ExpectedErrorOfSums, IsTheDistanceWhereNoiseHidesEverything) {
  const Problem poor = problem(1e-13);
  const ExpectedError error = expected_error(poor.guess, sums_settings(poor, {.radii = {2, 1, 2}}), StepCount{20});
  EXPECT_NEAR(error.start, 1.7 / 3, 0.01);
}

TEST(Choice, IsTheLeastAmongItsNeighbours) {
  const Problem one = problem(0.1);
  const DescentChoice choice = best_descent(one, true);
  DescentChoice other = choice;
  other.step_size = StepSize{choice.step_size.value() * 1.8};
  EXPECT_GE(inference::expected_errors(one.guess, descent_design(one, other)).average.total(), choice.error.total());
  other.step_size = StepSize{choice.step_size.value() / 1.8};
  EXPECT_GE(inference::expected_errors(one.guess, descent_design(one, other)).average.total(), choice.error.total());
  for (const std::uint64_t part : {2U, 4U, 10U, 20U}) {
    Problem settled = one;
    settled.settled.from = one.records / part;
    EXPECT_GE(best_descent(settled, true).error.total(), choice.error.total()) << part;
  }
  EXPECT_LT(best_sums(one, 1)->error.total(), best_sums(one, 0)->error.total());
  EXPECT_FALSE(best_sums({one.guess, 1500, one.rho, one.adjacency, 1000, true}, 0));
}

TEST(Choice, PlacesASecondRecentringAtThreeTimesTheRecords) {
  const Problem many{{std::vector<double>(50, 1.0), 1, 1}, 100'000, Rho{0.1},
                     privacy::Adjacency::zero_out,         1000,    true};
  const SumsChoice twice = *best_sums(many, 2);
  ASSERT_EQ(twice.later.size(), 2);
  EXPECT_EQ(twice.later[1].first, 3 * twice.later[0].first);
  EXPECT_GE(twice.later[1].radii.target, 3 * many.guess.residual) << "real residuals are skewed";
  EXPECT_LT(twice.error.total(), best_sums(many, 1)->error.total());
  EXPECT_TRUE(second_recentring_pays(many));
  EXPECT_FALSE(second_recentring_pays(problem(0.1))) << "three coefficients and 20 releases";
  // Of 3 releases, the second recentring would come after the last one.
  EXPECT_FALSE(best_sums({many.guess, 3'000, many.rho, many.adjacency, 1000, true}, 2));
  EXPECT_TRUE(best_sums({many.guess, 4'000, many.rho, many.adjacency, 1000, true}, 2));
}

TEST(Choice, DividesTheBudgetByWhatTheNoiseOfEachPartCosts) {
  const Problem many{{std::vector<double>(50, 1.0), 1, 1}, 100'000, Rho{0.1},
                     privacy::Adjacency::zero_out,         1000,    true};
  EXPECT_EQ(best_sums(many, 2)->second_share, 0.4) << "about a good centre the noise of H matters little";
  EXPECT_EQ(best_sums(many, 1)->second_share, 0.5);
  Problem settled = many;
  settled.settled.second_share = 0.5;
  const SumsChoice half = *best_sums(settled, 2);
  EXPECT_EQ(half.second_share, 0.5);
  EXPECT_LT(best_sums(many, 2)->error.total(), half.error.total());
  // The multipliers follow the share, and the whole costs what it may.
  const Settings settings = sums_settings(many, *best_sums(many, 2));
  EXPECT_GT(settings.sigmas[0].value(), settings.sigmas[1].value());
  EXPECT_NEAR(Spend(settings.mechanism, settings.sigmas).limit().value(), 0.1, 1e-6);
}

TEST(Guesses, OutOfRangeAreRefused) {
  EXPECT_THROW(inference::check({{}, 1, 1}), InvalidParameter);
  EXPECT_THROW(inference::check({{0.0}, 1, 1}), InvalidParameter);
  EXPECT_THROW(inference::check({{1.0}, 0, 1}), InvalidParameter);
  EXPECT_THROW(inference::check({{1.0}, 1, -1}), InvalidParameter);
}

}  // namespace
}  // namespace nustream::moments
