// AdaSSP of running sums: what the smallest eigenvalue is, how far a record moves it, and the whole release against
// the formula written out.
#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "nustream/base/error.h"
#include "support/lane_world.h"
#include "support/moments_world.h"

namespace nustream::tests {
namespace {

using moments::BatchSums;
using moments::Block;

moments::Design ridge_design(std::size_t inputs, privacy::Adjacency adjacency = privacy::Adjacency::zero_out) {
  return {{inputs, 0}, moments::Spread::none, {adjacency}, moments::Solution::adassp};
}

/// The smallest eigenvalue λ_min of the rows' scaled second moments, in units of R_x², as the lane receives it.
double released(const moments::Design& design, double spacing, const std::vector<double>& x) {
  BatchSums sums(design, moments::Spacings(3, spacing));
  sums.aim({}, std::vector<double>(design.shape.inputs));
  const std::size_t rows = x.size() / design.shape.inputs;
  sums.add(slice(rows_of(design.shape.inputs, x, std::vector<double>(rows, 0.5)), 0, rows));
  return spacing * static_cast<double>(sums.sums(Block::eigenvalue).front());
}

/// Rows whose entries are standard normal, so that many rows are longer than 1; now and then an entry is NaN.
std::vector<double> random_rows(std::size_t rows, std::size_t inputs, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<double> x;
  for (std::size_t i = 0; i < rows * inputs; ++i) x.push_back(normal(random));
  if (rows > 1 && random() % 4 == 0) x[random() % x.size()] = NAN;
  return x;
}

double smallest_of(std::size_t inputs, const std::vector<double>& x) {
  const auto d = static_cast<Eigen::Index>(inputs);
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(d, d);
  for (std::size_t i = 0; i < x.size(); i += inputs) {
    Eigen::VectorXd row = Eigen::Map<const Eigen::VectorXd>(x.data() + i, d);
    if (!row.allFinite()) continue;
    row /= std::max(1.0, row.norm());
    sum += row * row.transpose();
  }
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(sum).eigenvalues()(0);
}

TEST(SmallestEigenvalue, IsThatOfTheScaledRows) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t inputs = 1 + random() % 5;
    const std::vector<double> x = random_rows(1 + random() % 40, inputs, random);
    EXPECT_NEAR(released(ridge_design(inputs), 0x1p-40, x), smallest_of(inputs, x), 1e-9);
  }
  // Three rows of length 1 along the first axis, and along the second two of length 1 and two of length 1/2, so that
  // λ_min = 2.5.
  const std::vector<double> known{1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0.5, 0, 0.5};
  EXPECT_NEAR(released(ridge_design(2), 0x1p-40, known), 2.5, 1e-9);
}

// The claim for which the eigenvalue's noise is scaled: leaving a record out, or putting another one in its place,
// moves it by 1 at most.
TEST(SmallestEigenvalue, OfNeighboursDiffersByOneAtMost) {
  std::mt19937_64 random(2);
  double furthest = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const std::size_t inputs = 1 + random() % 3;
    const double spacing = std::ldexp(1.0, -5 - static_cast<int>(random() % 30));
    const std::vector<double> x = random_rows(1 + random() % 6, inputs, random);
    std::vector<double> neighbour = x;
    const bool replaced = random() % 2 == 0;
    const std::vector<double> other = random_rows(1, inputs, random);
    for (std::size_t j = 0; j < inputs; ++j) neighbour[j] = replaced ? 3 * other[j] : 0;
    const double moved =
        std::abs(released(ridge_design(inputs), spacing, x) - released(ridge_design(inputs), spacing, neighbour));
    EXPECT_LE(moved, 1);
    furthest = std::max(furthest, moved);
  }
  EXPECT_GT(furthest, 0.9);  // with one input a row of length 1 moves it by its whole radius
}

moments::Settings ridge_settings(std::size_t inputs, std::uint64_t rows, double sigma) {
  moments::Settings settings = linear_settings(inputs, rows, noise::Correlation{noise::Independent{}, StepCount{1}});
  settings.mechanism.design = ridge_design(inputs, privacy::Adjacency::replace_one);
  settings.sigmas.assign(3, NoiseMultiplier{sigma});
  settings.stages = {{0, {2, 1, 3}}};
  settings.start.assign(inputs, 0.25);
  settings.release_sums = true;
  return settings;
}

// (H + λI)(θ − θ_c) = g, where λ follows Algorithm 2 of Wang 2018 from the smallest eigenvalue of the sums without
// noise plus the noise that the lane was given.
TEST(AdaptiveRidge, IsTheFormulaWrittenOut) {
  std::size_t with_ridge = 0;
  std::size_t without = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const std::size_t d = 1 + seed % 5;
    const double sigma = seed % 2 == 0 ? 0.25 : 6;
    const moments::Settings settings = ridge_settings(d, 300, sigma);
    const SumsWorld world = sums_world(settings, 1, seed);
    moments::Lane lane(settings, Position{0});
    moments::Releases releases;
    advance(lane, settings, world, 0, 300, releases);
    ASSERT_EQ(releases.size(), 1U);
    const moments::StageSums& sums = lane.sums().stages().front();
    const double unit = 2.0 * 2.0;  // R_x²
    BatchSums exact(settings.mechanism.design, [&] {
      moments::Spacings spacings;
      for (const noise::Grid& grid : moments::grids(settings)) spacings.push_back(grid.spacing());
      return spacings;
    }());
    exact.aim(settings.stages.front().radii, settings.start);
    exact.add(slice(world.rows, 0, 300));
    const double spacing = moments::grids(settings).back().spacing();
    const double noisy =
        unit * spacing * static_cast<double>(exact.sums(Block::eigenvalue).front() + world.noise.back().front());
    ASSERT_EQ(sums.eigenvalue.size(), 1U);
    EXPECT_DOUBLE_EQ(sums.eigenvalue.front(), noisy);
    const double n = static_cast<double>(d);
    const double of_second = std::sqrt(2.0) * sigma * unit;
    const double of_eigenvalue = sigma * unit;
    const double at_least = std::max(0.0, noisy - std::sqrt(2 * std::log(6 / .05)) * of_eigenvalue);
    const double ridge = std::max(0.0, std::sqrt(n * std::log(2 * n * n / .05)) * of_second - at_least);
    ASSERT_TRUE(releases.front().ridge);
    EXPECT_NEAR(*releases.front().ridge, ridge, 1e-9 * (1 + ridge));
    (ridge > 0 ? with_ridge : without) += 1;
    Eigen::MatrixXd second(static_cast<Eigen::Index>(d), static_cast<Eigen::Index>(d));
    const double* entry = sums.second.data();
    for (Eigen::Index i = 0; i < second.rows(); ++i) {
      second(i, i) = *entry++ + ridge;
      for (Eigen::Index j = i + 1; j < second.cols(); ++j) second(i, j) = second(j, i) = *entry++ / std::sqrt(2.0);
    }
    if (releases.front().floored > 0) continue;
    const Eigen::VectorXd moved =
        second.ldlt().solve(Eigen::Map<const Eigen::VectorXd>(sums.cross.data(), second.rows()));
    for (std::size_t j = 0; j < d; ++j) {
      EXPECT_NEAR(releases.front().theta[j], 0.25 + moved(static_cast<Eigen::Index>(j)), 1e-7);
    }
  }
  EXPECT_GT(with_ridge, 10U);
  EXPECT_GT(without, 5U);
}

TEST(AdaptiveRidge, IsInTheStateWithItsNoise) {
  const moments::Settings settings = ridge_settings(3, 50, 1);
  const SumsWorld world = sums_world(settings, 1, 7);
  moments::Lane lane(settings, Position{0});
  moments::Releases releases;
  advance(lane, settings, world, 0, 50, releases);
  moments::Lane again = moments::Lane::decode(settings, lane.encode());
  again.release_now(releases);
  EXPECT_EQ(releases.at(0).theta, releases.at(1).theta);
  EXPECT_EQ(releases.at(0).ridge, releases.at(1).ridge);
  moments::Settings floored = settings;
  floored.mechanism.design.solution = moments::Solution::floored;
  floored.sigmas.pop_back();
  EXPECT_THROW(static_cast<void>(moments::Lane::decode(floored, lane.encode())), InvalidParameter);
}

TEST(AdaptiveRidge, IsRefusedWhereTheEigenvalueWouldBeReleasedTwice) {
  moments::Settings settings = ridge_settings(2, 50, 1);
  settings.mechanism.correlation = noise::Correlation{noise::Independent{}, StepCount{2}};
  EXPECT_THROW(moments::Lane(settings, Position{0}), InvalidParameter);
  settings.mechanism.correlation = noise::Correlation{noise::Independent{}};
  EXPECT_THROW(moments::Lane(settings, Position{0}), InvalidParameter);
  moments::Design design = ridge_design(2);
  design.neighbours.target_only = true;
  EXPECT_THROW(moments::check(design), InvalidParameter);
  design = ridge_design(2);
  design.spread = moments::Spread::residuals;
  EXPECT_THROW(moments::check(design), InvalidParameter);
}

}  // namespace
}  // namespace nustream::tests
