// Lanes with several stages release the same in any slicing and after any restart, and no record weighs more than its
// clip norms allow.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "descent/gradient_sum.h"
#include "nustream/base/error.h"
#include "support/lane_stages.h"

namespace nustream::tests {
namespace {

std::vector<lane::Settings> all_settings() {
  std::vector<lane::Settings> all{multinomial_settings(3), two_stage_settings(2, 1), two_stage_settings(1, 0),
                                  public_two_stage_settings(2, 1)};
  all.push_back(two_stage_settings(1, 1));
  all.back().moments = lane::SecondMoments{ClipNorm{4}, std::nullopt, 0};
  lane::Settings moments = settings_for(3, {}, 1.0);
  moments.averaging = {descent::Averaging::Kind::tail, 40, 0.5};
  moments.moments = lane::SecondMoments{ClipNorm{4}, ClipNorm{2}, 40};
  moments.trail = descent::TrailSettings{0};
  all.push_back(moments);
  lane::Settings batches = multinomial_settings(2);
  batches.averaging = {descent::Averaging::Kind::tail, 25, 0.5};
  batches.batching = descent::Batching{25, 2, 3};
  batches.trail = descent::TrailSettings{25};
  all.push_back(batches);
  for (lane::Settings& settings : all) settings.release_every = 7;
  lane::Settings minibatches = all[1];
  minibatches.minibatch = 3;
  all.push_back(minibatches);
  return all;
}

std::vector<std::uint64_t> everything(const lane::Releases& releases) {
  std::vector<std::uint64_t> all = bits(releases);
  for (std::size_t i = 0; i < releases.size(); ++i) {
    const lane::Release release = releases[i];
    for (const auto part : {release.batch_means, release.bread, release.meat, release.trail}) {
      for (const double entry : part) all.push_back(std::bit_cast<std::uint64_t>(entry));
    }
    all.insert(all.end(),
               {release.batch_length, release.batches_through.value(), release.moment_steps, release.trail_distance});
  }
  return all;
}

TEST(LaneStages, AnySlicingWithAnyRestartsGivesTheSameReleases) {
  constexpr std::size_t steps = 900;
  std::uint64_t seed = 0;
  for (const lane::Settings& settings : all_settings()) {
    const auto grids = grids_for(settings);
    const auto world = staged_world(settings, steps, ++seed, 1e9);
    lane::Lane whole(settings, grids, Position{0});
    lane::Releases expected;
    whole.advance(slice(world.rows, 0, world.rows.count()), world.noise_from(0), expected);

    std::mt19937_64 random(seed);
    lane::Releases found;
    lane::Lane lane(settings, grids, Position{0});
    for (std::size_t taken = 0; taken < steps;) {
      const std::size_t count = std::min<std::size_t>(1 + random() % 300, steps - taken);
      const std::size_t m = settings.minibatch;
      lane.advance(slice(world.rows, taken * m, (taken + count) * m), world.noise_from(taken), found);
      taken += count;
      if (random() % 2 == 0) lane = lane::Lane::decode(settings, grids, lane.encode());
    }
    EXPECT_EQ(everything(found), everything(expected)) << "settings " << seed;
    EXPECT_EQ(lane.encode(), whole.encode()) << "settings " << seed;
  }
}

TEST(LaneStages, ACutOrLongerStateIsRefused) {
  for (const lane::Settings& settings : all_settings()) {
    const auto grids = grids_for(settings);
    const auto world = staged_world(settings, 60, 1, 1e9);
    lane::Lane lane(settings, grids, Position{0});
    lane::Releases releases;
    lane.advance(slice(world.rows, 0, world.rows.count()), world.noise_from(0), releases);
    const std::string state = lane.encode();
    for (const std::size_t size : {state.size() - 8, state.size() - 1, std::size_t{20}}) {
      EXPECT_THROW((void)lane::Lane::decode(settings, grids, std::string_view(state).substr(0, size)),
                   InvalidParameter);
    }
    EXPECT_THROW((void)lane::Lane::decode(settings, grids, state + std::string(8, '\0')), InvalidParameter);
  }
}

// For every record, an extreme one too, the exact norm of what it adds to the sum is at most G/s, the clip norm in
// units of the grid.
TEST(GradientSum, NoRecordIsLongerThanTheClipNorm) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  const noise::Grid grid(NoiseStddev{1.0}, 1.0, ClipNorm{1.3});
  const auto limit = 1.3L / static_cast<long double>(grid.spacing());
  for (int repetition = 0; repetition < 20'000; ++repetition) {
    const std::size_t columns = 1 + random() % 3;
    const std::size_t inputs = 1 + random() % 6;
    descent::GradientSum sum(grid, columns, inputs);
    std::vector<double> slopes(columns);
    std::vector<double> x(inputs);
    const double scale = std::exp(60 * normal(random));
    for (double& entry : slopes) entry = scale * normal(random);
    for (double& entry : x) entry = std::exp(40 * normal(random)) * normal(random);
    if (repetition % 50 == 0) x[0] = std::numeric_limits<double>::infinity();
    if (repetition % 50 == 1) slopes[0] = std::nan("");
    static_cast<void>(sum.add(slopes, x));
    long double squares = 0;
    for (const std::int64_t units : sum.units()) squares += static_cast<long double>(units) * units;
    ASSERT_LE(sqrtl(squares), limit);
    if (repetition % 50 < 2) {
      ASSERT_EQ(squares, 0);
    }
  }
}

// The square of one factor is subnormal and that of the other huge: their product looks harmless, though it has lost
// its digits.
TEST(GradientSum, FactorsOfFarApartSizesAreClippedToo) {
  std::mt19937_64 random(5);
  for (const double clip : {1e-8, 1e-6, 1.0}) {
    const noise::Grid grid(NoiseStddev{clip}, 1.0, ClipNorm{clip});
    const auto limit = static_cast<long double>(clip) / static_cast<long double>(grid.spacing());
    for (int exponent = -540; exponent <= 540; ++exponent) {
      for (int offset = 0; offset < 28; ++offset) {  // the gradient is about 2^−offset long
        const auto mantissa = [&] { return 1 + static_cast<double>(random() >> 11) * 0x1p-53; };
        const std::vector<double> slopes{std::ldexp(mantissa(), exponent)};
        std::vector<double> x;
        for (int j = 0; j < 3; ++j) x.push_back(std::ldexp(mantissa(), -exponent - offset));
        descent::GradientSum sum(grid, 1, 3);
        static_cast<void>(sum.add(slopes, x));
        long double squares = 0;
        for (const std::int64_t units : sum.units()) squares += static_cast<long double>(units) * units;
        ASSERT_LE(sqrtl(squares), limit) << clip << " " << exponent;
      }
    }
  }
}

// A record that is too short to be clipped adds its gradient, truncated to the grid.
TEST(GradientSum, AddsTheGradientOfAShortRecord) {
  const noise::Grid grid(NoiseStddev{1.0}, 1.0, ClipNorm{100});
  descent::GradientSum sum(grid, 2, 2);
  EXPECT_FALSE(sum.add(std::vector{1.5, -2.0}, std::vector{3.0, 0.25}));
  EXPECT_FALSE(sum.add(std::vector{1.0, 0.0}, std::vector{1.0, 0.0}));
  const double units = 1 / grid.spacing();
  const double expected[] = {5.5, 0.375, -6.0, -0.5};
  for (std::size_t j = 0; j < 4; ++j) EXPECT_EQ(static_cast<double>(sum.units()[j]), expected[j] * units);
  EXPECT_TRUE(sum.add(std::vector{1000.0, 0.0}, std::vector{1.0, 0.0}));
}

}  // namespace
}  // namespace nustream::tests
