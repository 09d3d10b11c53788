// Private ranges where the unit is the user: how far all records of one user together may move each release, by brute
// force over random tables.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "nustream/moments/budget.h"
#include "nustream/ranges/histogram.h"
#include "nustream/ranges/likelihood_fit.h"
#include "ranges/part_counts.h"
#include "ranges/part_sums.h"
#include "ranges/scores.h"
#include "support/users_of_tables.h"

namespace nustream::ranges {
namespace {

using privacy::Adjacency;

__extension__ typedef __int128 Integer;

using tests::any_number;
using tests::UsersTable;
constexpr std::size_t features = UsersTable::features;
constexpr std::size_t inputs = features + 1;

UsersTable any_table(std::mt19937_64& random) {
  UsersTable made;
  const std::size_t rows = 1 + random() % 60;
  const std::uint64_t users = 1 + random() % 6;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < features; ++j) made.x.push_back(any_number(random));
    made.y.push_back(any_number(random));
    made.users.push_back({0, random() % (users + 1), 0});  // 0 is nobody
  }
  return made;
}

/// The same table with null records in the place of all records of user 1.
UsersTable without_user(UsersTable made) {
  for (record::RowUser& user : made.users) {
    if (user.low == 1) user = {};
  }
  return made;
}

/// The same table with other records, of another user, in the place of all records of user 1.
UsersTable with_another(UsersTable made, std::mt19937_64& random) {
  for (std::size_t i = 0; i < made.users.size(); ++i) {
    if (made.users[i].low != 1) continue;
    made.users[i] = {0, 1000, 0};
    for (std::size_t j = 0; j < features; ++j) made.x[i * features + j] = any_number(random);
    made.y[i] = any_number(random);
  }
  return made;
}

std::vector<std::int64_t> silent(KeyStage, const noise::Grid&, std::size_t entries) {
  return std::vector<std::int64_t>(entries);
}

/// The squared distance of two releases in units of a grid, in exact arithmetic.
Integer squared_units(std::span<const double> one, std::span<const double> other, double unit) {
  Integer squares = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    const auto a = static_cast<Integer>(one[i] / unit);
    const auto b = static_cast<Integer>(other[i] / unit);
    EXPECT_EQ(static_cast<double>(a) * unit, one[i]) << "the release is a whole number of units";
    squares += (a - b) * (a - b);
  }
  return squares;
}

/// How far a release may go: `squares` times the square of its radius, in units of a grid that is a power of two.
Integer allowed_units(Integer squares, double radius_over_unit) {
  const auto units = static_cast<Integer>(radius_over_unit);
  EXPECT_EQ(static_cast<double>(units), radius_over_unit);
  return squares * units * units;
}

std::vector<double> histograms_of(const UsersTable& made, const HistogramDesign& design, Rho rho) {
  const Table table = made.table();
  const Rows rows(table);
  const BinsAt bins_at = [&](std::uint64_t position, std::span<std::size_t> bins) {
    for (std::size_t j = 0; j < bins.size(); ++j) bins[j] = octave_bin(rows.value(position, j)) / 8;
    for (std::size_t& bin : bins) bin = bin < design.bins ? bin : no_bin;
  };
  const NoisyCounts counts = count_part(rows, {0, table.records()}, design, rho, bins_at, KeyStage::octaves, silent);
  std::vector<double> all;
  for (std::size_t j = 0; j < design.histograms; ++j) {
    all.insert(all.end(), counts.histogram(j).begin(), counts.histogram(j).end());
  }
  return all;
}

// A user with one record moves as much as is claimed, so that a smaller claim would fail. A user with many would move
// far more if nothing were shortened.
TEST(UserCounts, MoveByNoMoreThanTheirDisplacementWhateverAUserHas) {
  std::mt19937_64 random(21);
  double furthest = 0;
  double furthest_replaced = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const std::size_t m = 1 + random() % (features + 1);
    const HistogramDesign design{m, octave_bins / 8 + 1, Adjacency::zero_out};
    const CountNoise mechanism(design, Rho{1});
    const double unit = mechanism.grid().spacing();
    const UsersTable made = any_table(random);
    const auto one = histograms_of(made, design, Rho{1});
    const Integer zeroed = squared_units(one, histograms_of(without_user(made), design, Rho{1}), unit);
    const Integer replaced = squared_units(one, histograms_of(with_another(made, random), design, Rho{1}), unit);
    ASSERT_LE(zeroed, allowed_units(static_cast<Integer>(m), 1 / unit));
    ASSERT_LE(replaced, allowed_units(static_cast<Integer>(2 * m), 1 / unit));
    const double whole = static_cast<double>(allowed_units(static_cast<Integer>(m), 1 / unit));
    furthest = std::max(furthest, static_cast<double>(zeroed) / whole);
    furthest_replaced = std::max(furthest_replaced, static_cast<double>(replaced) / whole);
  }
  EXPECT_GE(furthest, 1);
  EXPECT_GE(furthest_replaced, 1.9);
}

TEST(UserCounts, OfUsersWithOneRecordAreTheExactCounts) {
  const HistogramDesign design{2, 3, Adjacency::zero_out};
  const CountNoise mechanism(design, Rho{1});
  UserCounts counts(mechanism);
  counts.add(std::vector<std::size_t>{0, 2});
  counts.end_user();
  counts.add(std::vector<std::size_t>{0, no_bin});
  counts.end_user();
  const NoisyCounts noisy(counts, std::vector<std::int64_t>(6));
  EXPECT_EQ(noisy.histogram(0)[0], 2);
  EXPECT_EQ(noisy.histogram(1)[2], 1);
  EXPECT_EQ(noisy.rows(), 2U) << "the sum of the histogram that has most";
}

TEST(UserCounts, OfAUserWithManyRecordsKeepTheirProportions) {
  const CountNoise mechanism({2, 3, Adjacency::zero_out}, Rho{1});
  UserCounts counts(mechanism);
  for (int i = 0; i < 300; ++i) counts.add(std::vector<std::size_t>{0, 1});
  for (int i = 0; i < 400; ++i) counts.add(std::vector<std::size_t>{2, 1});
  counts.end_user();
  const NoisyCounts noisy(counts, std::vector<std::int64_t>(6));
  const double longer = std::sqrt(300.0 * 300 + 400 * 400 + 700 * 700);
  EXPECT_NEAR(noisy.histogram(0)[0], 300 * std::sqrt(2) / longer, 1e-6);
  EXPECT_NEAR(noisy.histogram(0)[2], 400 * std::sqrt(2) / longer, 1e-6);
  EXPECT_NEAR(noisy.histogram(1)[1], 700 * std::sqrt(2) / longer, 1e-6);
}

constexpr double radius_of_inputs = 2;
constexpr double radius_of_residuals = 4;

PartDesign moments_design(Adjacency adjacency) {
  return {{{inputs, 0}, moments::Spread::none, {adjacency, false, true}},
          {0.5, 0.5},
          Rho{1},
          {radius_of_inputs, 1, radius_of_residuals},
          {0.5, -1, 0.25},
          {KeyStage::second, KeyStage::target}};
}

struct Sums {
  std::vector<double> second;
  std::vector<double> target;
  std::map<KeyStage, double> units;  ///< the spacing of each block's grid
};

Sums sums_of(const UsersTable& made, Adjacency adjacency) {
  const Table table = made.table();
  const Rows rows(table);
  Sums sums;
  const DrawNoise draw = [&sums](KeyStage stage, const noise::Grid& grid, std::size_t entries) {
    sums.units[stage] = grid.spacing();
    return std::vector<std::int64_t>(entries);
  };
  const EachRow each = [&](const AddRow& add, const EndUser& end) {
    rows.each(
        {0, table.records()},
        [&](std::uint64_t position) {
          const double row[] = {1, rows.value(position, 0), rows.value(position, 1)};
          add(row, rows.value(position, features), 1);
        },
        end);
  };
  const PartSums part = sum_part(moments_design(adjacency), each, draw);
  sums.second = part.sums.stages().front().second;
  sums.target = part.sums.stages().front().cross;
  return sums;
}

// Claimed are 1 radius where a user leaves, and 2 where another one comes. A user with several records is shortened
// to 1, so that a bound below 1 would fail.
TEST(UserSumsOfAPart, MoveByNoMoreThanTheirDisplacementWhateverAUserHas) {
  std::mt19937_64 random(22);
  double furthest_second = 0;
  double furthest_target = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const Adjacency adjacency = trial % 2 == 0 ? Adjacency::zero_out : Adjacency::replace_one;
    const UsersTable made = any_table(random);
    const UsersTable other = trial % 2 == 0 ? without_user(made) : with_another(made, random);
    const Sums one = sums_of(made, adjacency);
    const Sums two = sums_of(other, adjacency);
    const moments::Design design = moments_design(adjacency).design;
    const auto moved = [&](moments::Block block, KeyStage stage, const std::vector<double>& a,
                           const std::vector<double>& b, double radius) {
      const double spacing = one.units.at(stage);
      const double claimed = moments::displacement(design, block).value();
      const Integer allowed = allowed_units(1, claimed / spacing);
      const Integer squares = squared_units(a, b, spacing * radius);
      EXPECT_LE(squares, allowed);
      return std::sqrt(static_cast<double>(squares) / static_cast<double>(allowed));
    };
    furthest_second = std::max(furthest_second, moved(moments::Block::second, KeyStage::second, one.second,
                                                      two.second, radius_of_inputs * radius_of_inputs));
    furthest_target = std::max(furthest_target, moved(moments::Block::target, KeyStage::target, one.target,
                                                      two.target, radius_of_inputs * radius_of_residuals));
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GE(furthest_second, 0.999);
  EXPECT_GE(furthest_target, 0.95);
}

ScoreSums::Released scores_of(const UsersTable& made, Likelihood likelihood, const ScoreBounds& bounds) {
  const Table table = made.table();
  const Rows rows(table);
  ScoreSums sums(likelihood, bounds, {Adjacency::zero_out, false, true}, Rho{1}, Eigen::Vector3d{0.2, -1, 0.5});
  rows.each(
      {0, table.records()},
      [&](std::uint64_t position) {
        sums.add(Eigen::Vector3d{1, rows.value(position, 0), rows.value(position, 1)},
                 rows.value(position, features));
      },
      [&] { sums.end_user(); });
  return sums.release(silent, KeyStage::first_curvature, KeyStage::first_score);
}

TEST(UserScores, MoveByNoMoreThanTheirBoundsWhateverAUserHas) {
  std::mt19937_64 random(23);
  const ScoreBounds bounds{1.5, 2, 0.7};
  double furthest_curvature = 0;
  double furthest_score = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const Likelihood likelihood = trial % 2 == 0 ? Likelihood::logistic : Likelihood::poisson;
    const UsersTable made = any_table(random);
    const auto one = scores_of(made, likelihood, bounds);
    const auto none = scores_of(without_user(made), likelihood, bounds);
    const auto other = scores_of(with_another(made, random), likelihood, bounds);
    furthest_curvature = std::max(furthest_curvature, (one.curvature - none.curvature).norm());
    furthest_score = std::max(furthest_score, (one.score - none.score).norm());
    ASSERT_LE((one.curvature - other.curvature).norm(), 2 * bounds.curvature);
    ASSERT_LE((one.score - other.score).norm(), 2 * bounds.inputs * bounds.residuals);
  }
  EXPECT_LE(furthest_curvature, bounds.curvature);
  EXPECT_GE(furthest_curvature, 0.99 * bounds.curvature);
  EXPECT_LE(furthest_score, bounds.inputs * bounds.residuals);
  EXPECT_GE(furthest_score, 0.99 * bounds.inputs * bounds.residuals);
}

}  // namespace
}  // namespace nustream::ranges
