// The whole path of a fit: what it finds, what it spends its rows on, and that nothing but noisy releases decides.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/ranges/linear_fit.h"
#include "nustream/ranges/sizes.h"
#include "nustream/ranges/stride.h"
#include "support/made_table.h"

namespace nustream::ranges {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

using tests::noise_of;
using Made = tests::MadeTable;

/// y = 5 + 2 a − 3 b + noise, with a about 1,000 ± 10, and b a rare event of some 50.
Made two_columns(std::size_t rows) {
  Made made{2, {}, {}};
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < rows; ++i) {
    const double a = 1000 + 10 * normal(random);
    const double b = random() % 10 == 0 ? 50 + normal(random) : 0;
    made.x.insert(made.x.end(), {a, b});
    made.y.push_back(5 + 2 * a - 3 * b + 20 * normal(random));
  }
  return made;
}

void expect_same(const TableFit& one, const TableFit& other) {
  EXPECT_EQ(one.theta, other.theta);
  EXPECT_EQ(one.placements, other.placements);
  EXPECT_EQ(one.shares, other.shares);
  EXPECT_EQ(one.bounds.inputs, other.bounds.inputs);
  EXPECT_EQ(one.bounds.residuals, other.bounds.residuals);
  EXPECT_EQ(one.pilot.inputs, other.pilot.inputs);
}

// The slopes 2 and −3 have standard errors of .014 and .009 by sampling; noise adds about as much.
TEST(LinearFit, FindsTheSlopesOfColumnsFarFromZeroAndOfRareEvents) {
  const Made made = two_columns(20'000);
  const TableFit fit = fit_linear(made.table(), {Rho{1}}, noise_of(0));
  ASSERT_FALSE(fit.is_stopped);
  ASSERT_EQ(fit.theta.size(), 3U);
  EXPECT_NEAR(fit.theta[1], 2, 0.2);
  EXPECT_NEAR(fit.theta[2], -3, 0.1);
  EXPECT_NEAR(fit.placements[0].centre, 1000, 3);
  EXPECT_NEAR(fit.placements[0].scale, 10, 5);
  EXPECT_GE(fit.zooms, 1U);
  ASSERT_EQ(fit.variances.size(), 3U);
  for (std::size_t j = 1; j < 3; ++j) {
    const double truth = j == 1 ? 2 : -3;
    EXPECT_LT(std::fabs(fit.theta[j] - truth), 4 * std::sqrt(fit.variances[j].variance));
  }
}

/// y = −3 a + b + noise, with an a of 0 in one row of 40, and else 1.
Made rare_zeros_beside_ones() {
  Made made{2, {}, {}};
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 22'000; ++i) {
    const double a = i % 40 == 0 ? 0 : 1;
    made.x.insert(made.x.end(), {a, normal(random)});
    made.y.push_back(-3 * a + made.x.back() + 4 * normal(random));
  }
  return made;
}

// The zeros are too few to be seen beside the ones under most of these keys. Two closer looks then find nothing but
// ones, and rows with a 0 must not be scaled away for that: the slope of the first column was off by hundreds.
TEST(LinearFit, KeepsRareZerosBesideOnes) {
  const Made made = rare_zeros_beside_ones();
  std::size_t unseen = 0;
  for (std::uint8_t number = 0; number < 20; ++number) {
    const TableFit fit = fit_linear(made.table(), {Rho{0.1}}, noise_of(number));
    ASSERT_FALSE(fit.is_stopped);
    if (fit.intervals[0].low > 0) ++unseen;
    EXPECT_GT(fit.placements[0].scale, 0.02);
    EXPECT_NEAR(fit.theta[1], -3, 3);
    EXPECT_NEAR(fit.theta[2], 1, 0.5);
  }
  EXPECT_GT(unseen, 2U);
}

// In the first closer look four deviations of noise stand in two empty bins, far from each other. They look like a
// spread, so that no second look follows, and the scale would be that of the bins.
TEST(LinearFit, KeepsRareZerosBesideOnesWhereNoiseLooksLikeASpread) {
  const Made made = rare_zeros_beside_ones();
  const Rho rho{0.01};
  std::size_t unseen = 0;
  for (std::uint8_t number = 0; number < 10; ++number) {
    const DrawNoise drawn = noise_of(number);
    const DrawNoise draw = [&](KeyStage stage, const noise::Grid& grid, std::size_t count) {
      std::vector<std::int64_t> noise = drawn(stage, grid, count);
      const double deviation = std::sqrt(static_cast<double>(count) / equal_bins / (2 * rho.value()));
      for (const std::size_t bin : {2U, 61U}) {
        if (stage == KeyStage::first_zoom) noise[bin] = std::llround(4 * deviation / grid.spacing());
      }
      return noise;
    };
    const TableFit fit = fit_linear(made.table(), {rho}, draw);
    ASSERT_FALSE(fit.is_stopped);
    if (fit.intervals[0].low > 0) ++unseen;
    EXPECT_GT(fit.placements[0].scale, 0.02);
  }
  EXPECT_GT(unseen, 5U);
}

TEST(LinearFit, WithoutFeaturesIsTheMean) {
  Made made{0, {}, {}};
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(70, 5);
  for (int i = 0; i < 5000; ++i) made.y.push_back(normal(random));
  const TableFit fit = fit_linear(made.table(), {Rho{1}}, noise_of(0));
  ASSERT_EQ(fit.theta.size(), 1U);
  EXPECT_NEAR(fit.theta[0], 70, 0.5);
}

TEST(LinearFit, LeavesOutColumnsOfWhichHardlyAnythingIsUsableWhereAskedTo) {
  Made made{2, {}, {}};
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 5000; ++i) {
    made.x.insert(made.x.end(), {i % 3 == 0 ? normal(random) : nan, normal(random)});
    made.y.push_back(made.x.back() + normal(random));
  }
  FitSettings settings{Rho{1}, privacy::Adjacency::zero_out, 2};
  const TableFit dropped = fit_linear(made.table(), settings, noise_of(0));
  EXPECT_EQ(dropped.features, std::vector<std::size_t>{1});
  EXPECT_NEAR(dropped.theta.at(1), 1, 0.3);
  settings.droppable = 0;
  const TableFit kept = fit_linear(made.table(), settings, noise_of(0));
  EXPECT_EQ(kept.features, (std::vector<std::size_t>{0, 1}));
  EXPECT_NEAR(kept.usable, 1.0 / 3, 0.15);
}

// Half of the records here cannot be used at all. They count against no column: otherwise a coin would decide over
// each.
TEST(LinearFit, LeavesNoColumnOutForTheSakeOfRecordsThatHaveNoTarget) {
  Made made = two_columns(12'000);
  for (std::size_t i = 0; i < made.y.size(); i += 2) made.y[i] = made.x[2 * i] = made.x[2 * i + 1] = nan;
  FitSettings settings{Rho{1}};
  settings.droppable = 2;
  for (std::uint8_t number = 0; number < 8; ++number) {
    const TableFit fit = fit_linear(made.table(), settings, noise_of(number));
    EXPECT_EQ(fit.features, (std::vector<std::size_t>{0, 1}));
  }
}

// a and its copy cannot be told apart, and b can, whichever units they have.
TEST(LinearFit, NamesTheCoefficientsAlongHiddenDirections) {
  Made made{3, {}, {}};
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 8000; ++i) {
    const double a = normal(random);
    const double b = 1000 * normal(random);
    made.x.insert(made.x.end(), {a, b, -a / 1000});
    made.y.push_back(1 + a + b / 1000 + normal(random));
  }
  const TableFit fit = fit_linear(made.table(), {Rho{1}}, noise_of(0));
  EXPECT_EQ(fit.floored, 1U);
  EXPECT_EQ(fit.undetermined, (std::vector<std::size_t>{1, 3}));
  EXPECT_NEAR(fit.theta.at(2), 0.001, 0.0002);
}

// The bounds then refer to the coordinates that the settings have, in which an a about 1,000 makes a row that long.
TEST(LinearFit, MeasuresInTheCoordinatesThatAreKept) {
  const Made made = two_columns(20'000);
  FitSettings settings{Rho{1}};
  settings.kept = {{true, true}, {false, true}, {true, false}};
  const TableFit fit = fit_linear(made.table(), settings, noise_of(0));
  ASSERT_EQ(fit.placements.size(), 3U);
  EXPECT_EQ(fit.placements[0], (Placement{0, 1}));
  EXPECT_EQ(fit.placements[1].scale, 1);
  EXPECT_EQ(fit.placements[2].centre, 0);
  EXPECT_NE(fit.placements[2].scale, 1);
  EXPECT_GT(fit.pilot.inputs, 1500);
  EXPECT_LT(fit.pilot.inputs, 4000);
  EXPECT_GT(fit.largest_second, 5e5);
  EXPECT_LE(fit.smallest_second, fit.largest_second);
}

/// Rows that count 0 to 5 times. The target of a row that counts 0 times would spoil everything if it counted.
struct Weighed {
  Made made{1, {}, {}};
  std::vector<double> weights;
  double slope = 0;  ///< the slope of weighted least squares

  explicit Weighed(double unit) {
    std::mt19937_64 random(11);
    std::normal_distribution<double> normal;
    double w = 0;
    double wx = 0;
    double wy = 0;
    double wxx = 0;
    double wxy = 0;
    for (int i = 0; i < 20'000; ++i) {
      const auto weight = static_cast<double>(random() % 6);
      const double x = normal(random);
      // Rows that count more have another slope, so that an answer which counts all rows alike differs.
      const double y = weight == 0 ? 30 * x + 50 : 1 + weight * x + normal(random);
      made.x.push_back(x);
      made.y.push_back(y);
      weights.push_back(unit * weight);
      w += weight, wx += weight * x, wy += weight * y, wxx += weight * x * x, wxy += weight * x * y;
    }
    slope = (wxy / w - wx / w * wy / w) / (wxx / w - wx / w * wx / w);
  }
  [[nodiscard]] Table table() const { return {made.features, made.x, made.y, weights}; }
};

// The answer is weighted least squares, in whatever unit the weights are.
TEST(LinearFit, CountsRowsByTheirWeights) {
  for (const double unit : {1.0, 1e4, 1e-4}) {
    const Weighed weighed(unit);
    const TableFit fit = fit_linear(weighed.table(), {Rho{1}}, noise_of(0));
    ASSERT_EQ(fit.theta.size(), 2U) << unit;
    EXPECT_NEAR(fit.theta[1], weighed.slope, 0.15) << unit;
    EXPECT_TRUE(fit.variances.empty()) << "nothing says what the weights are";
    // The bounds are those of rows times the roots of their weights.
    EXPECT_NEAR(std::log(fit.pilot.inputs / std::sqrt(unit)), std::log(6), 0.7) << unit;
    EXPECT_NEAR(fit.largest_second / unit, 2.5, 1) << unit << ": Σ w/n";
  }
  const Weighed weighed(1);
  const Table alike{1, weighed.made.x, weighed.made.y};
  EXPECT_GT(std::fabs(fit_linear(alike, {Rho{1}}, noise_of(0)).theta[1] - weighed.slope), 1);
}

// A row without a weight is treated like a row that lacks a number.
TEST(LinearFit, LeavesOutRowsWithoutAWeight) {
  Weighed weighed(1);
  for (std::size_t i = 0; i < weighed.weights.size(); ++i) {
    if (weighed.weights[i] == 0) weighed.weights[i] = i % 2 == 0 ? nan : -1;
  }
  const TableFit fit = fit_linear(weighed.table(), {Rho{1}}, noise_of(0));
  EXPECT_NEAR(fit.usable, 5.0 / 6, 0.05);
  EXPECT_NEAR(fit.theta.at(1), weighed.slope, 0.15);
}

// The rows of the answer are then untouched: no noise is drawn for them.
TEST(LinearFit, StopsWhereHardlyAnythingIsUsable) {
  Made made = two_columns(5000);
  for (std::size_t i = 0; i < made.y.size(); ++i) {
    if (i % 50 != 0) made.y[i] = nan;
  }
  std::set<KeyStage> drawn;
  const DrawNoise draw = [&, keyed = noise_of(0)](KeyStage stage, const noise::Grid& grid, std::size_t entries) {
    drawn.insert(stage);
    return keyed(stage, grid, entries);
  };
  const TableFit fit = fit_linear(made.table(), {Rho{1}}, draw);
  EXPECT_TRUE(fit.is_stopped);
  EXPECT_EQ(fit.unusable_column, 2U);
  EXPECT_TRUE(fit.theta.empty());
  EXPECT_FALSE(drawn.contains(KeyStage::target));
}

TEST(LinearFit, RefusesBeforeAnyNoiseIsDrawn) {
  const Made made = two_columns(500);
  const DrawNoise draw = [](KeyStage, const noise::Grid&, std::size_t entries) {
    ADD_FAILURE() << "noise was drawn";
    return std::vector<std::int64_t>(entries);
  };
  EXPECT_THROW(static_cast<void>(fit_linear(made.table(), {Rho{0.1}}, draw)), InvalidParameter);
}

// A row of the first part that moves within its bins is in no other release, so nothing changes, to the bit. If a
// part shared its rows with another part, this would show.
TEST(LinearFit, IsUnchangedByRowsThatMoveWithinTheBinsOfTheirOnlyPart) {
  const Made made = two_columns(20'000);
  Made moved = made;
  const Stride stride(20'000);
  const Sizes parts = sizes({20'000, 3, Rho{1}, privacy::Adjacency::zero_out});
  const auto within_bin = [](double value) {
    const double moved_value = value * 1.001;
    return octave_bin(moved_value) == octave_bin(value) ? moved_value : value;
  };
  for (std::uint64_t place = 0; place < parts.columns; ++place) {
    const std::uint64_t position = stride.position(place);
    for (std::size_t j = 0; j < 2; ++j) moved.x[position * 2 + j] = within_bin(moved.x[position * 2 + j]);
    moved.y[position] = within_bin(moved.y[position]);
  }
  ASSERT_NE(moved.x, made.x);
  expect_same(fit_linear(made.table(), {Rho{1}}, noise_of(0)), fit_linear(moved.table(), {Rho{1}}, noise_of(0)));
}

/// One record at a time loses all its numbers: the ranges of all stages and the answer may move only through one
/// release.
// The answer's records take part in a histogram and in three sums, each of which a record moves by the Δ of
// histogram.h and moments/budget.h, whose rule for records that are replaced is written out here.
TEST(LinearFit, ReleasesOfTheAnswerTogetherSpendRho) {
  const Made made = two_columns(20'000);
  for (const auto adjacency : {privacy::Adjacency::zero_out, privacy::Adjacency::replace_one}) {
    std::map<KeyStage, double> stddevs;
    const TableFit fit = fit_linear(made.table(), {Rho{1}, adjacency}, tests::told_noise_of(0, stddevs));
    ASSERT_FALSE(fit.is_stopped);
    const auto cost = [&](KeyStage stage, double squared_move) {
      return squared_move / (2 * std::pow(stddevs.at(stage), 2));
    };
    double spent = 0;
    if (adjacency == privacy::Adjacency::zero_out) {
      for (const KeyStage stage : {KeyStage::tails, KeyStage::second, KeyStage::target, KeyStage::spread}) {
        spent += cost(stage, 1);
      }
    } else {
      const double second = cost(KeyStage::second, 2);
      const double target = cost(KeyStage::target, 4);
      ASSERT_LE(target, 4 * second);
      spent = cost(KeyStage::tails, 2) + second + target / 2 + target * target / (16 * second) +
              cost(KeyStage::spread, 2);
    }
    EXPECT_LE(spent, 1 + 1e-8);
    EXPECT_GE(spent, 1 - 1e-8);
  }
}

// Stages before the answer have parts of their own, and a record of the answer is in none of these.
TEST(LinearFit, TakesEachRecordIntoOnePartAtMost) {
  const Made made = two_columns(4000);
  const FitSettings settings{Rho{10}};
  // What a stage's noise is added to cannot be seen from outside. What can be seen is which stages' settings changed:
  // under the same noise, the settings that follow from earlier stages stay equal up to the record's own part.
  const TableFit whole = fit_linear(made.table(), settings, noise_of(3));
  const Stride stride(4000);
  const Sizes parts = sizes({4000, 3, Rho{10}, privacy::Adjacency::zero_out});
  const std::uint64_t last = stride.position(3999);  // a row of the answer
  Made without = made;
  without.y[last] = nan;
  const TableFit less = fit_linear(without.table(), settings, noise_of(3));
  EXPECT_EQ(less.placements, whole.placements);
  EXPECT_EQ(less.pilot.inputs, whole.pilot.inputs);
  EXPECT_EQ(less.bounds.residuals, whole.bounds.residuals);
  EXPECT_NE(less.theta, whole.theta);
  Made earlier = made;
  // A row of no part that places columns, where no zoom is needed.
  earlier.y[stride.position(parts.columns * 2)] = nan;
  EXPECT_EQ(fit_linear(earlier.table(), settings, noise_of(3)).shares, whole.shares);
}

TEST(KeyedNoise, DiffersFromStageToStageAndHasTheGridsDeviation) {
  const noise::Grid grid(NoiseStddev{8}, 1, ClipNorm{1});
  const DrawNoise draw = noise_of(0);
  std::map<std::vector<std::int64_t>, KeyStage> seen;
  double squares = 0;
  for (std::uint32_t stage = 0; stage < key_stages; ++stage) {
    const std::vector<std::int64_t> units = draw(static_cast<KeyStage>(stage), grid, 1000);
    EXPECT_TRUE(seen.emplace(units, static_cast<KeyStage>(stage)).second) << stage;
    for (const std::int64_t unit : units) squares += std::pow(grid.to_gradient(unit), 2);
  }
  // From 20,000 numbers, a correct deviation is off by more than 4% once in 10^8.
  EXPECT_NEAR(std::sqrt(squares / (1000 * key_stages)), 8, 0.32);
}

TEST(KeyedNoise, OfAStageIsGivenOnce) {
  const noise::Grid grid(NoiseStddev{1}, 1, ClipNorm{1});
  const DrawNoise draw = noise_of(0);
  static_cast<void>(draw(KeyStage::octaves, grid, 3));
  EXPECT_DEATH(static_cast<void>(draw(KeyStage::octaves, grid, 3)), "contract violated: the noise of a stage");
}

}  // namespace
}  // namespace nustream::ranges
