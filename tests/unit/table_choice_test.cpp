// The choice between a descent over a table and its sums, where the answer is known in another way.
#include "nustream/moments/table_choice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "nustream/base/error.h"

namespace nustream::moments {
namespace {

Problem problem(std::size_t coefficients, std::uint64_t records, double rho, double distance) {
  return {{std::vector<double>(coefficients, 1.0), 1, distance},
          records,
          Rho{rho},
          privacy::Adjacency::zero_out,
          records,
          true};
}

// Without a way to go, a short step is as good as any, and nothing is as good as none. With a long way and hardly any
// privacy noise, what is left is the sampling error of least squares, residual²·d/n.
TEST(BestTableDescent, ComesToLeastSquaresWhereNoiseIsNothing) {
  const TableDescentChoice choice = best_table_descent(problem(5, 10'000, 1e6, 3));
  EXPECT_DOUBLE_EQ(choice.error.sampling, 5 / 10'000.0);
  EXPECT_LT(choice.error.start + choice.error.privacy, 0.01 * choice.error.sampling);
}

// DP-GD's noise on the mean gradient is √T·G/(√(2ρ)·n) under zero-out, √2 times that of one step where T doubles.
TEST(BestTableDescent, CountsTheNoiseOfEveryStep) {
  Problem given = problem(1, 1'000, 0.5, 1);
  given.settled.step_size = 1;  // each step forgets the one before
  given.settled.clip_norm = 1e4;
  for (const std::uint64_t steps : {1U, 2U, 8U}) {
    const TableDescentChoice choice = best_table_descent(given, {steps});
    EXPECT_EQ(choice.steps.value(), steps);
    const double stddev = std::sqrt(static_cast<double>(steps)) * 1e4 / (std::sqrt(2 * 0.5) * 1'000);
    EXPECT_NEAR(choice.error.privacy, stddev * stddev, 1e-6 * stddev * stddev);
  }
  Problem replaced = given;
  replaced.adjacency = privacy::Adjacency::replace_one;
  EXPECT_NEAR(best_table_descent(replaced, {2}).error.privacy / best_table_descent(given, {2}).error.privacy, 4,
              1e-6);
}

TEST(BestTableDescent, IsTheLeastAmongItsNeighbours) {
  const Problem given = problem(8, 5'000, 0.1, 2);
  const TableDescentChoice best = best_table_descent(given);
  Problem settled = given;
  settled.settled.step_size = best.step_size.value() / 2;
  EXPECT_GE(best_table_descent(settled).error.total(), best.error.total());
  settled.settled = {};
  settled.settled.clip_norm = 2 * best.clip.value();
  EXPECT_GE(best_table_descent(settled).error.total(), best.error.total());
  EXPECT_GE(best_table_descent(given, {best.steps.value() / 2}).error.total(), best.error.total());
}

// The noise of H has d² entries and is multiplied by the way from the start to the answer; that of gradients has d.
TEST(TableChoice, ManyCoefficientsFavourTheDescent) {
  const auto sums_over_descent = [](std::size_t coefficients) {
    const Problem given = problem(coefficients, 20'000, 0.5, 1);
    return best_table_sums(given).error.total() / best_table_descent(given).error.total();
  };
  EXPECT_GT(sums_over_descent(100), 1.5 * sums_over_descent(2));
}

// Sums that are released once are a candidate for a table alone, since a stream goes on behind the release.
TEST(TableChoice, AloneKnowsSumsOfOneRelease) {
  Problem given = problem(3, 1'000, 0.1, 1);
  EXPECT_FALSE(best_sums(given, 0));
  given.is_table = true;
  EXPECT_TRUE(best_sums(given, 0));
  EXPECT_FALSE(best_sums(given, 1));
}

TEST(TableChoice, RefusesGuessesOutOfRange) {
  Problem given = problem(2, 100, 1, 1);
  given.guess.residual = 0;
  EXPECT_THROW(static_cast<void>(best_table_descent(given)), InvalidParameter);
  EXPECT_THROW(static_cast<void>(best_table_sums(given)), InvalidParameter);
}

}  // namespace
}  // namespace nustream::moments
