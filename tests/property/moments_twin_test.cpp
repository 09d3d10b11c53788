// The lane of running sums against a twin in long double that keeps every step, and against itself when it is cut and
// resumed.
#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "support/moments_twin.h"

namespace nustream::tests {
namespace {

TEST(SumsLane, AgreesWithATwinThatKeepsEveryStep) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const moments::Settings settings = twin_settings(seed);
    compared += agreements(moments::Lane(settings, Position{1000}), SumsTwin(settings), settings,
                           sums_world(settings, 12, seed));
  }
  EXPECT_GT(compared, 200U);
}

// The same bytes come out however the rows are cut, and wherever the state is written and read again.
TEST(SumsLane, CutsAndResumesLeaveNoTrace) {
  constexpr std::size_t steps = 14;
  for (const moments::Settings& settings : all_kinds()) {
    const std::size_t m = settings.mechanism.participation.batch;
    const SumsWorld world = sums_world(settings, steps, 9);
    moments::Lane whole(settings, Position{1000});
    moments::Releases expected;
    advance(whole, settings, world, 0, steps * m, expected);
    ASSERT_EQ(expected.size(), steps);
    std::mt19937_64 random(2);
    moments::Lane cut(settings, Position{1000});
    moments::Releases found;
    for (std::size_t row = 0; row < steps * m;) {
      const std::size_t end = std::min<std::size_t>(row + 1 + random() % (2 * m), steps * m);
      advance(cut, settings, world, row, end, found);
      row = end;
      EXPECT_EQ(cut.open_records(), row % m);
    }
    expect_equal(found, expected);
    EXPECT_EQ(cut.encode(), whole.encode());
    moments::Lane resumed(settings, Position{1000});
    moments::Releases again;
    for (std::size_t t = 0; t < steps; ++t) {
      resumed = moments::Lane::decode(settings, resumed.encode());
      advance(resumed, settings, world, t * m, (t + 1) * m, again);
    }
    expect_equal(again, expected);
    EXPECT_EQ(resumed.encode(), whole.encode());
    moments::Releases last;
    resumed.release_now(last);
    expect_equal(last, {expected.back()});
  }
}

// A record's inputs and target reach the sums of its own step alone. They reach later centres only through these
// sums.
TEST(SumsLane, ARecordMovesNoEarlierRelease) {
  const moments::Settings settings = linear_settings(3, 25);
  SumsWorld world = sums_world(settings, 10, 4);
  moments::Releases before;
  moments::Lane lane(settings, Position{0});
  advance(lane, settings, world, 0, 250, before);
  world.rows.y[6 * 25 + 3] += 1;
  moments::Releases after;
  moments::Lane other(settings, Position{0});
  advance(other, settings, world, 0, 250, after);
  for (std::size_t t = 0; t < 6; ++t) EXPECT_EQ(before[t].theta, after[t].theta);
  EXPECT_NE(before[6].theta, after[6].theta);
}

// Public rows make H exact, so that the estimate without noise is least squares.
TEST(SumsLane, OfPublicRowsAreExactButForTheTargetsNoise) {
  moments::Settings settings = redesigned(
      linear_settings(2, 50), moments::Design{{2, 0}, moments::Spread::none, {privacy::Adjacency::zero_out, true}});
  settings.stages = {{0, {100, 1, 1000}}};
  settings.sigmas.assign(1, NoiseMultiplier{0x1p-16});  // a small σ makes the grid fine
  SumsWorld world = sums_world(settings, 4, 8);
  ASSERT_EQ(world.noise.size(), 1U);
  std::ranges::fill(world.noise[0], 0);
  std::vector<double> y = world.rows.y;
  for (std::size_t i = 0; i < y.size(); i += 7) world.rows.y[i] = std::numeric_limits<double>::quiet_NaN();
  moments::Lane lane(settings, Position{0});
  moments::Releases releases;
  advance(lane, settings, world, 0, 200, releases);
  EXPECT_EQ(releases.back().floored, 0U);
  // A row without a target stays in H and has residual 0: it says that the centre is right there.
  Eigen::Matrix2d second = Eigen::Matrix2d::Zero();
  Eigen::Vector2d cross = Eigen::Vector2d::Zero();
  const Eigen::Vector2d centre(0.125, 0.125);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const Eigen::Vector2d x(world.rows.x[2 * i], world.rows.x[2 * i + 1]);
    second += x * x.transpose();
    if (i % 7 != 0) cross += x * (y[i] - x.dot(centre));
  }
  const Eigen::Vector2d expected = centre + second.inverse() * cross;
  EXPECT_NEAR(releases.back().theta[0], expected(0), 1e-8);
  EXPECT_NEAR(releases.back().theta[1], expected(1), 1e-8);
}

}  // namespace
}  // namespace nustream::tests
