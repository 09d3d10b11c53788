// Intervals over values that depend on each other, against the mean with which they were drawn.
#include "nustream/inference/long_run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

namespace nustream::inference {
namespace {

using Series = std::vector<double>;
using Intervals = std::function<std::optional<Interval>(std::span<const double>, double)>;

Series independent(std::mt19937_64& engine) {
  std::normal_distribution<double> normal;
  Series values;
  for (int i = 0; i < 48; ++i) values.push_back(normal(engine));
  return values;
}

Series remembering(std::mt19937_64& engine) {
  std::normal_distribution<double> normal;
  double value = normal(engine) / std::sqrt(1 - 0.25);
  Series values;
  for (int i = 0; i < 48; ++i) values.push_back(value = 0.5 * value + normal(engine));
  return values;
}

/// A series like noise that is nearly a sum of its own differences: what one batch gains, the next one loses.
Series alternating(std::mt19937_64& engine) {
  std::normal_distribution<double> normal;
  double before = normal(engine);
  Series values;
  for (int i = 0; i < 48; ++i) {
    const double next = normal(engine);
    values.push_back(next - 0.7 * before);
    before = next;
  }
  return values;
}

double coverage(const Intervals& intervals, const std::function<Series(std::mt19937_64&)>& draw) {
  std::mt19937_64 engine(16);
  constexpr int series = 8'000;
  int held = 0;
  for (int i = 0; i < series; ++i) {
    const Interval one = *intervals(draw(engine), 0.95);
    held += one.lower() <= 0 && 0 <= one.upper() ? 1 : 0;
  }
  return static_cast<double>(held) / series;
}

// With 8,000 series each, a standard error is .0025. Independent values are covered exactly. The others are covered
// as often as their dependence allows, which does not die out at once.
TEST(LongRunInterval, CoversWhetherNeighboursAgreeOrAlternate) {
  EXPECT_NEAR(coverage(long_run_interval, independent), 0.95, 0.01);
  EXPECT_NEAR(coverage(long_run_interval, remembering), 0.945, 0.015);
  EXPECT_NEAR(coverage(long_run_interval, alternating), 0.96, 0.02);
}

// The plain interval over the same series covers too seldom or too often.
TEST(LongRunInterval, IsNeededThere) {
  EXPECT_LT(coverage(t_interval, remembering), 0.80);
  EXPECT_GT(coverage(t_interval, alternating), 0.995);
}

TEST(LongRunInterval, MovesWithItsValuesAndGrowsWithThem) {
  std::mt19937_64 engine(17);
  const Series values = independent(engine);
  Series moved = values;
  for (double& value : moved) value = 1e6 + 3 * value;
  const Interval one = *long_run_interval(values, 0.9);
  const Interval other = *long_run_interval(moved, 0.9);
  EXPECT_NEAR(other.center, 1e6 + 3 * one.center, 1e-8);
  EXPECT_NEAR(other.half_width, 3 * one.half_width, 1e-8);
}

TEST(LongRunInterval, IsNoneOfFewValues) {
  EXPECT_FALSE(long_run_interval(Series{1, 2, 3, 4, 5, 6, 7}, 0.95));
  EXPECT_TRUE(long_run_interval(Series{1, 2, 3, 4, 5, 6, 7, 8}, 0.95));
}

// Together with the mean, the movements hold all of the values. This is Parseval's theorem, computed here without
// anything of the library.
TEST(CosinePowers, AddUpToTheSquaresAboutTheMean) {
  std::mt19937_64 engine(18);
  const Series values = independent(engine);
  double mean = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  double powers = 0;
  for (const double power : cosine_powers(values, values.size() - 1)) powers += power;
  EXPECT_NEAR(powers, squares, 1e-10);
}

}  // namespace
}  // namespace nustream::inference
