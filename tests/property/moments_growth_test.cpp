// Units that grow with the stream: the estimate against a twin that keeps every step, what a record can move, the
// noise that intervals claim, and states that are cut and resumed.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/moments/interval.h"
#include "support/growing_twin.h"

namespace nustream::tests {
namespace {

constexpr std::size_t all_steps = 16;

TEST(GrowingUnits, AgreeWithATwinThatKeepsEveryStep) {
  std::size_t compared = 0;
  std::size_t grown = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto spread = seed % 2 == 0 ? moments::Spread::none : moments::Spread::residuals;
    const moments::Settings settings = growing_settings(2 + seed % 3, spread);
    const SumsWorld world = growing_world(settings, all_steps, seed, seed % 4 == 3 ? 1 : 40, 60 * (seed % 7));
    moments::Lane lane(settings, Position{1000});
    GrowingTwin twin(settings);
    const std::size_t m = settings.mechanism.participation.batch;
    for (std::size_t t = 0; t < all_steps; ++t) {
      moments::Releases releases;
      advance(lane, settings, world, t * m, (t + 1) * m, releases);
      const moments::StageSums& newest = lane.sums().stages().back();
      twin.step(world, t, moments::in_working_units(newest.centre, newest));
      EXPECT_EQ(releases[0].stage, lane.sums().stages().size() - 1);
      if (releases[0].floored > 0) continue;  // the twin has no floor
      const SumsVector expected = twin.theta();
      EXPECT_NEAR(newest.radii.inputs, twin.radii().inputs, 1e-6) << seed << ' ' << t;
      EXPECT_NEAR(newest.radii.target, twin.radii().target, 1e-6) << seed << ' ' << t;
      for (Eigen::Index j = 0; j < expected.size(); ++j) {
        const auto index = static_cast<std::size_t>(j);
        EXPECT_EQ(newest.scale(index), static_cast<double>(twin.scales()(j))) << seed << ' ' << t;
        EXPECT_NEAR(releases[0].theta[index], static_cast<double>(expected(j)), 1e-6) << seed << ' ' << t;
      }
      ++compared;
      grown += newest.scales.empty() ? 0U : 1U;
    }
  }
  EXPECT_GT(compared, 500U);
  EXPECT_GT(grown, 200U);
}

// A centre moves towards the estimate by the same share in all coordinates, and little where noise explains the
// distance. Where noise is all there is, D² has six degrees of freedom, and the share is E max(0, 1 - 4/D²) = .271 in
// the mean. Over 200 streams that begin at their truth the mean is known within .02, and .35 is four times that away.
TEST(GrowingUnits, MoveTheCentreByAsMuchAsNoiseDoesNotExplain) {
  const auto share_of = [](std::uint64_t seed, double away, double sigma) {
    moments::Settings settings = growing_settings(6, moments::Spread::residuals, sigma);
    const std::size_t m = settings.mechanism.participation.batch;
    settings.start = {.5 + away, .125, .5, .5, .5, .5};
    const SumsWorld world = growing_world(settings, 3, seed, 1, 0);
    moments::Lane lane(settings, Position{0});
    moments::Releases releases;
    advance(lane, settings, world, 0, 2 * m, releases);
    const std::vector<double> found = releases.back().theta;
    advance(lane, settings, world, 2 * m, 3 * m, releases);
    const moments::StageSums& newest = lane.sums().stages().back();
    EXPECT_EQ(newest.first, 2U) << "the first look begins a stage where the spread is kept";
    const std::vector<double> centre = moments::in_working_units(newest.centre, newest);
    const double share = (centre[0] - settings.start[0]) / (found[0] - settings.start[0]);
    for (std::size_t j = 0; j < centre.size(); ++j) {
      EXPECT_NEAR(centre[j] - settings.start[j], share * (found[j] - settings.start[j]), 1e-9);
    }
    EXPECT_GE(share, -1e-12);
    EXPECT_LE(share, 1 + 1e-12);
    return share;
  };
  double sum = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) sum += share_of(seed, 0, 4) / 200;
  EXPECT_LE(sum, .35);
  EXPECT_GE(share_of(1, 50, .25), .9) << "noise does not explain such a distance";
}

/// The lane after all rows of the world.
moments::Lane lane_over(const moments::Settings& settings, const SumsWorld& world) {
  moments::Lane lane(settings, Position{0});
  moments::Releases releases;
  advance(lane, settings, world, 0, world.rows.count(), releases);
  return lane;
}

std::vector<double> scales_of(const moments::Lane& lane) {
  std::vector<double> scales;
  for (std::size_t j = 0; j < lane.sums().stages().back().centre.size(); ++j) {
    scales.push_back(lane.sums().stages().back().scale(j));
  }
  return scales;
}

TEST(GrowingUnits, FollowASpreadThatGrowsAndTellSo) {
  const moments::Settings settings = growing_settings(3, moments::Spread::none);
  const std::size_t m = settings.mechanism.participation.batch;
  const SumsWorld world = growing_world(settings, all_steps, 3, 32, 3 * m);
  moments::Lane lane(settings, Position{0});
  moments::Releases releases;
  advance(lane, settings, world, 0, world.rows.count(), releases);
  EXPECT_TRUE(releases[2].grown && releases[2].grown->empty()) << "nothing has grown before the spread does";
  ASSERT_TRUE(releases.back().grown);
  ASSERT_EQ(releases.back().grown->size(), 1U) << "the other columns stay";
  const moments::GrownInput column = releases.back().grown->front();
  EXPECT_EQ(column.input, 1U);
  EXPECT_GE(column.factor, 16);
  EXPECT_LE(column.factor, 64);
  EXPECT_GE(column.times, 1U);
  EXPECT_LE(column.times, 3U);
  EXPECT_EQ(scales_of(lane), (std::vector<double>{1, column.factor, 1}));
  EXPECT_NEAR(releases.back().theta[1], 0.125, 0.02);
}

// A spread that grows and shrinks again leaves its scale behind: a scale that is too small would lose rows for ever.
TEST(GrowingUnits, NeverShrink) {
  const moments::Settings settings = growing_settings(3, moments::Spread::none);
  const std::size_t m = settings.mechanism.participation.batch;
  SumsWorld world = growing_world(settings, all_steps, 4, 30, 0);
  for (std::size_t i = 4 * m; i < world.rows.count(); ++i) world.rows.x[i * 3 + 1] /= 3000;
  moments::Lane lane(settings, Position{0});
  moments::Releases releases;
  std::vector<double> before{1, 1, 1};
  for (std::size_t t = 0; t < all_steps; ++t) {
    advance(lane, settings, world, t * m, (t + 1) * m, releases);
    const std::vector<double> now = scales_of(lane);
    for (std::size_t j = 0; j < now.size(); ++j) EXPECT_GE(now[j], before[j]) << t;
    before = now;
  }
  EXPECT_GE(before[1], 8);
}

// Without noise's help, a stream whose columns keep their spread keeps its units. At these figures noise would have
// to be off by more than 10 standard deviations.
TEST(GrowingUnits, OfASteadyStreamStay) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const moments::Settings settings = growing_settings(4, moments::Spread::none);
    const moments::Lane lane = lane_over(settings, growing_world(settings, all_steps, seed, 1, 0));
    EXPECT_TRUE(lane.sums().stages().back().scales.empty()) << seed;
  }
}

// Where noise is all there is, it makes nothing grow. A scale grows by chance where a mean square seems to be 4
// although it is 1: of 300 streams with 3 columns and 4 stages at most 1 in 200 decisions may err.
TEST(GrowingUnits, AreHardlyMovedByNoise) {
  std::size_t grown = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const moments::Settings settings = growing_settings(4, moments::Spread::none, 16);
    const moments::Lane lane = lane_over(settings, growing_world(settings, all_steps, seed, 1, 0));
    for (const moments::GrownInput& input : moments::grown_inputs(lane.sums().stages())) grown += input.times;
  }
  EXPECT_LE(grown, 18U);
}

/// The length of the difference of two lanes' noisy sums in each block, in units of what the newest stage's radii
/// allow one record.
std::vector<double> moved_by(const moments::Lane& one, const moments::Lane& two) {
  const moments::StageSums& a = one.sums().stages().back();
  const moments::StageSums& b = two.sums().stages().back();
  EXPECT_EQ(a.scales, b.scales);
  EXPECT_EQ(a.radii, b.radii);
  const auto distance = [](std::span<const double> x, std::span<const double> y) {
    double sum = 0;
    for (std::size_t j = 0; j < x.size(); ++j) sum += (x[j] - y[j]) * (x[j] - y[j]);
    return std::sqrt(sum);
  };
  return {distance(a.second, b.second) / (a.radii.inputs * a.radii.inputs),
          distance(a.cross, b.cross) / (a.radii.inputs * a.radii.target)};
}

/// The world in which record i is far too long, along one column or the other, with a target far above or below.
SumsWorld with_record(SumsWorld world, std::size_t i, unsigned kind) {
  world.rows.x[2 * i] = kind % 2 == 0 ? 1e6 : 1e-3;
  world.rows.x[2 * i + 1] = kind % 2 == 0 ? 1e-3 : 1e6;
  world.rows.y[i] = kind < 2 ? 1e9 : -1e9;
  return world;
}

// Each record of the last step, for which scales have grown: as it is or far too long, beside itself left out, or
// replaced by one that is far too long in any direction. Nothing moves the sums further than the claim, and some
// pairs reach it.
TEST(GrowingUnits, ARecordMovesTheSumsOfAGrownStageByNoMoreThanAnyOther) {
  for (const auto adjacency : {privacy::Adjacency::zero_out, privacy::Adjacency::replace_one}) {
    std::vector<double> largest(2);
    moments::Settings settings = growing_settings(2, moments::Spread::none);
    settings.mechanism.design.neighbours.adjacency = adjacency;
    settings.mechanism.participation.batch = 24;
    const SumsWorld world = growing_world(settings, 13, 5, 30, 0);
    const moments::Lane whole = lane_over(settings, world);
    ASSERT_GE(whole.sums().stages().back().scale(1), 8);
    ASSERT_LE(whole.sums().stages().back().first, 12U) << "the last step is in the units that have grown";
    for (std::size_t i = 12 * 24; i < 13 * 24; ++i) {
      for (unsigned kind = 0; kind < 5; ++kind) {
        const moments::Lane one = lane_over(settings, kind == 4 ? world : with_record(world, i, kind));
        for (unsigned other_kind = 0; other_kind < 4; ++other_kind) {
          SumsWorld other = with_record(world, i, other_kind);
          if (adjacency == privacy::Adjacency::zero_out) {
            other.rows.x[2 * i] = other.rows.x[2 * i + 1] = other.rows.y[i] = 0;
          }
          const std::vector<double> moved = moved_by(one, lane_over(settings, other));
          for (std::size_t b = 0; b < 2; ++b) largest[b] = std::max(largest[b], moved[b]);
        }
      }
    }
    for (std::size_t b = 0; b < 2; ++b) {
      const moments::Block block = b == 0 ? moments::Block::second : moments::Block::target;
      const double claimed = moments::displacement(settings.mechanism.design, block).value();
      EXPECT_LE(largest[b], claimed * (1 + 1e-9)) << b;
      EXPECT_GT(largest[b], .95 * claimed) << b;
    }
  }
}

// Rows of zeros from the last stage on: its sums are then the noise of its own radii, in its own units, whatever
// grew.
TEST(GrowingUnits, TheNoiseOfAStepIsThatOfItsStage) {
  const moments::Settings settings = growing_settings(3, moments::Spread::none);
  SumsWorld world = growing_world(settings, all_steps, 6, 30, 0);
  const std::size_t m = settings.mechanism.participation.batch;
  const std::uint64_t first = lane_over(settings, world).sums().stages().back().first;
  std::fill(world.rows.x.begin() + static_cast<std::ptrdiff_t>(first * m * 3), world.rows.x.end(), 0.0);
  std::fill(world.rows.y.begin() + static_cast<std::ptrdiff_t>(first * m), world.rows.y.end(), 0.0);
  const moments::Lane lane = lane_over(settings, world);
  const moments::StageSums& stage = lane.sums().stages().back();
  ASSERT_EQ(stage.first, first);
  ASSERT_GE(stage.scale(1), 8);
  const std::vector<noise::Grid> grids = moments::grids(settings);
  const auto noise_of = [&](std::size_t block, std::size_t entries, std::size_t entry) {
    double sum = 0;
    for (std::size_t t = first; t < all_steps; ++t) {
      sum += static_cast<double>(world.noise[block][t * entries + entry]) * grids[block].spacing();
    }
    return sum * stage.radii.inputs;
  };
  for (std::size_t j = 0; j < 6; ++j) {
    EXPECT_NEAR(stage.second[j], noise_of(0, 6, j) * stage.radii.inputs, 1e-9);
  }
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_NEAR(stage.cross[j], noise_of(1, 3, j) * stage.radii.target, 1e-9);
  }
}

// The rows stay the same and the noise is drawn anew. About a centre that lies far away, most of it is the noise of H
// times the distance, which the scales divide stage by stage. From 2,000 draws a variance is known within 3.2%; one
// of the three variances is off by 13% once in 5,000 seeds, and the seed is fixed.
TEST(GrowingUnits, TheNoiseMovesTheEstimateAsFarAsIntervalsSay) {
  constexpr std::size_t draws = 2000;
  moments::Settings settings = redesigned(linear_settings(3, 400, noise::Correlation{noise::Independent{}}),
                                          {{3, 0}, moments::Spread::none, {}});
  settings.stages = {{0, {6, 1, 400}}, {1, {6, 1, 400}}};
  settings.sigmas = {NoiseMultiplier{0.125}, NoiseMultiplier{0.00025}};
  settings.start = {9, -7, 5};
  settings.constant = 0;
  settings.grows = true;
  SumsWorld world = growing_world(settings, 2, 1, 5.5, 0);
  const record::RowBatch rows = world.rows;
  const moments::Frame frame{settings.mechanism.design,
                             moments::block_noise(settings.mechanism.design, settings.sigmas),
                             {},
                             400,
                             {1, 0, 0}};
  std::vector<double> sum(3), squares(3), claimed(3);
  for (std::uint64_t draw = 0; draw < draws; ++draw) {
    world = sums_world(settings, 2, 100 + draw);
    world.rows = rows;
    moments::Lane lane(settings, Position{0});
    moments::Releases releases;
    advance(lane, settings, world, 0, rows.count(), releases);
    ASSERT_EQ(lane.sums().stages().back().scales, (std::vector<double>{1, 4, 1}));
    const std::vector<double> covariance{1, 0, 0, 1};  // independent steps, each of which is a stage
    const moments::Estimate found = moments::estimate(lane.sums(), frame, covariance);
    const auto of_noise = moments::privacy_covariance(lane.sums(), frame, covariance, found, 0);
    ASSERT_TRUE(of_noise);
    for (std::size_t j = 0; j < 3; ++j) {
      sum[j] += releases.back().theta[j];
      squares[j] += std::pow(releases.back().theta[j], 2);
      claimed[j] += (*of_noise)[j * 3 + j] / std::pow(lane.sums().stages().back().scale(j), 2) / draws;
    }
  }
  for (std::size_t j = 0; j < 3; ++j) {
    const double mean = sum[j] / draws;
    EXPECT_NEAR(claimed[j] / (squares[j] / draws - mean * mean), 1, 0.13) << j;
  }
}

TEST(GrowingUnits, CutsAndResumesLeaveNoTrace) {
  for (const auto spread : {moments::Spread::none, moments::Spread::residuals, moments::Spread::sandwich}) {
    moments::Settings settings = growing_settings(3, spread);
    settings.keeps_marks = spread != moments::Spread::none;
    const std::size_t m = settings.mechanism.participation.batch;
    const SumsWorld world = growing_world(settings, all_steps, 9, 30, 3 * m);
    moments::Lane whole(settings, Position{1000});
    moments::Releases expected;
    advance(whole, settings, world, 0, all_steps * m, expected);
    EXPECT_GE(whole.sums().stages().back().scale(1), 8);
    moments::Lane resumed(settings, Position{1000});
    moments::Releases found;
    std::mt19937_64 random(2);
    for (std::size_t row = 0; row < all_steps * m;) {
      const std::size_t end = std::min<std::size_t>(row + 1 + random() % (2 * m), all_steps * m);
      advance(resumed, settings, world, row, end, found);
      row = end;
      if (resumed.open_records() == 0) resumed = moments::Lane::decode(settings, resumed.encode());
    }
    ASSERT_EQ(found.size(), all_steps);
    for (std::size_t t = 0; t < all_steps; ++t) {
      EXPECT_EQ(found[t].theta, expected[t].theta);
      EXPECT_EQ(found[t].grown, expected[t].grown);
      ASSERT_EQ(found[t].variances.size(), expected[t].variances.size());
      for (std::size_t j = 0; j < found[t].variances.size(); ++j) {
        EXPECT_EQ(found[t].variances[j].variance, expected[t].variances[j].variance);
      }
    }
    EXPECT_EQ(resumed.encode(), whole.encode());
    EXPECT_LE(whole.encode().size(), moments::encoded_bytes_max(settings));
  }
}

// A lane that stops after any step, among them those before and behind each look, goes on to the same bytes.
TEST(GrowingUnits, AStopAfterAnyStepLeavesNoTrace) {
  moments::Settings settings = growing_settings(3, moments::Spread::residuals);
  settings.keeps_marks = true;
  const std::size_t m = settings.mechanism.participation.batch;
  const SumsWorld world = growing_world(settings, all_steps, 9, 30, 3 * m);
  const moments::Lane whole = lane_over(settings, world);
  for (std::size_t stop = 0; stop < all_steps; ++stop) {
    moments::Lane lane(settings, Position{0});
    moments::Releases releases;
    advance(lane, settings, world, 0, stop * m, releases);
    moments::Lane resumed = moments::Lane::decode(settings, lane.encode());
    EXPECT_EQ(resumed.encode(), lane.encode()) << stop;
    advance(resumed, settings, world, stop * m, all_steps * m, releases);
    EXPECT_EQ(resumed.encode(), whole.encode()) << stop;
  }
}

/// The state's bytes with another scale of input 1 in the stage that begins at `offset`.
std::string with_scale(std::string bytes, std::size_t offset, double scale) {
  const std::string own = [&] {
    std::string text;
    const auto bits = std::bit_cast<std::uint64_t>(scale);
    for (unsigned shift = 0; shift < 64; shift += 8) text += static_cast<char>(bits >> shift & 0xff);
    return text;
  }();
  return bytes.replace(offset + 8 * (1 + 3 + 1), 8, own);
}

// A state's scales are powers of two that begin at 1 and never shrink.
TEST(GrowingUnits, OfAStateAreThoseThatALaneCanHave) {
  const moments::Settings settings = growing_settings(2, moments::Spread::none);
  const std::string bytes = lane_over(settings, growing_world(settings, 5, 7, 30, 0)).encode();
  constexpr std::size_t stage_bytes = 8 * (1 + 3 + 2 + 2 + 3 + 2);
  ASSERT_EQ(bytes.size(), 56 + 3 * stage_bytes + 8 * (1 + 2 + 1)) << "three stages, and the last look";
  EXPECT_EQ(bytes[24], 32);
  const std::size_t last = 56 + 2 * stage_bytes;
  EXPECT_EQ(moments::Lane::decode(settings, bytes).encode(), bytes);
  EXPECT_NO_THROW(static_cast<void>(moments::Lane::decode(settings, with_scale(bytes, last, 0x1p39))));
  for (const double scale : {1.0, 3.0, 0.5, -8.0, 0x1p41, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(static_cast<void>(moments::Lane::decode(settings, with_scale(bytes, last, scale))), InvalidParameter)
        << scale;
  }
  EXPECT_THROW(static_cast<void>(moments::Lane::decode(settings, with_scale(bytes, 56, 2))), InvalidParameter);
  moments::Settings still = settings;
  still.grows = false;
  EXPECT_THROW(static_cast<void>(moments::Lane::decode(still, bytes)), InvalidParameter);
}

TEST(GrowingUnits, AreForPlainSumsWithAConstant) {
  const auto refused = [](const auto& change) {
    moments::Settings settings = growing_settings(2, moments::Spread::none);
    change(settings);
    EXPECT_THROW(moments::Lane(settings, Position{0}), InvalidParameter);
  };
  refused([](moments::Settings& settings) { settings.constant.reset(); });
  refused([](moments::Settings& settings) { settings.memory = 600; });
  refused([](moments::Settings& settings) { settings.release_sums = true; });
}

}  // namespace
}  // namespace nustream::tests
