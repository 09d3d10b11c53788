// The private count of clipped gradients: what it counts, what one record moves, and that nothing else changes.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>

#include "nustream/base/error.h"
#include "nustream/model/loss.h"
#include "support/lane_stages.h"

namespace nustream::tests {
namespace {

constexpr std::size_t counting_steps = 48;

/// Descents of every loss that has another kind of gradient, with and without sandwich moments and momentum.
lane::Settings counting_settings(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  lane::Settings settings = seed % 5 == 0 ? multinomial_settings(3, 0.8) : settings_for(3, {}, 0.8);
  if (seed % 5 == 1) settings.loss.kind = model::Loss::Kind::logistic;
  if (seed % 5 == 2) settings.loss.kind = model::Loss::Kind::huber;
  if (seed % 5 == 3) settings.loss.kind = model::Loss::Kind::mean;
  if (settings.loss.kind == model::Loss::Kind::linear && seed % 2 == 0) {
    settings.averaging = {descent::Averaging::Kind::tail, 5, 0.5};
    settings.moments = lane::SecondMoments{ClipNorm{4}, ClipNorm{2}, 5};
  } else if (seed % 3 == 0) {
    settings.momentum = 0.5;
  }
  settings.minibatch = 1 + random() % 3;
  settings.release_every = 1 + random() % 7;
  settings.counts_clipped = true;
  return settings;
}

struct CountingRun {
  lane::Lane lane;
  lane::Releases releases;
};

/// Over all steps at once.
CountingRun counting_run(const lane::Settings& settings, const StagedWorld& world) {
  const auto grids = grids_for(settings);
  CountingRun all{lane::Lane(settings, grids, Position{0}), {}};
  all.lane.advance(slice(world.rows, 0, world.rows.count()), world.noise_from(0), all.releases);
  return all;
}

/// How many gradients of each step are longer than the clip norm, by the formula, at the iterates of a run that
/// releases every step.
std::vector<std::uint64_t> clipped_by_step(lane::Settings settings, const StagedWorld& world) {
  settings.release_every = 1;
  const CountingRun all = counting_run(settings, world);
  const std::size_t entries = world.rows.dimension;
  std::vector<std::uint64_t> counts;
  for (std::size_t t = 0; t < counting_steps; ++t) {
    const auto before = t == 0 ? std::span<const double>(settings.start) : all.releases[t - 1].theta;
    counts.push_back(0);
    for (std::size_t i = t * settings.minibatch; i < (t + 1) * settings.minibatch; ++i) {
      const auto x = std::span(world.rows.x).subspan(i * entries, entries);
      double squares = 0;
      for (const double entry : model::gradient(settings.loss, before, x, world.rows.y[i])) squares += entry * entry;
      if (std::sqrt(squares) > settings.clip.value()) ++counts.back();
    }
  }
  return counts;
}

/// Where the stretch begins, by walking through all releases.
std::uint64_t since_by_walking(std::uint64_t taken, std::uint64_t every) {
  std::uint64_t last = 0;
  std::uint64_t before = 0;
  for (std::uint64_t mark = every; mark < taken; mark *= 2) {
    before = last;
    last = mark;
  }
  return before;
}

TEST(ClippedCount, IsTheNumberOfLongGradientsOfItsStretchPlusItsNoise) {
  std::uint64_t seen = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const lane::Settings settings = counting_settings(seed);
    const StagedWorld world = staged_world(settings, counting_steps, seed, 0x1p30);
    const CountingRun all = counting_run(settings, world);
    const std::vector<std::uint64_t> counts = clipped_by_step(settings, world);
    const double spacing = grids_for(settings).back().spacing();
    for (std::size_t r = 0; r < all.releases.size(); ++r) {
      const lane::Release release = all.releases[r];
      ASSERT_TRUE(release.clipped);
      const std::uint64_t since = release.clipped->since.value();
      EXPECT_EQ(since, since_by_walking(release.steps.value(), settings.release_every)) << seed;
      double expected = 0;
      for (std::uint64_t t = since; t < release.steps.value(); ++t) {
        expected += static_cast<double>(counts[t]) + static_cast<double>(world.units.back()[t]) * spacing;
        seen += counts[t];
      }
      EXPECT_NEAR(release.clipped->sum, expected, 1e-9) << seed << ' ' << r;
    }
  }
  EXPECT_GT(seen, 1000U);
}

// An extra release, as the clock or an end asks for, is about the steps up to it, and moves no mark.
TEST(ClippedCount, IsToldBetweenReleasesToo) {
  const lane::Settings settings = counting_settings(9);
  const StagedWorld world = staged_world(settings, counting_steps, 9, 0x1p30);
  const auto grids = grids_for(settings);
  for (std::size_t taken = 1; taken <= counting_steps; ++taken) {
    lane::Lane lane(settings, grids, Position{0});
    lane::Releases releases;
    lane.release_now(releases);
    EXPECT_FALSE(releases[0].clipped) << "before the first step there is nothing to tell";
    for (std::size_t t = 0; t < taken; ++t) {
      lane.advance(slice(world.rows, t * settings.minibatch, (t + 1) * settings.minibatch), world.noise_from(t),
                   releases);
      lane.release_now(releases);
    }
    const lane::Release last = releases[releases.size() - 1];
    ASSERT_TRUE(last.clipped);
    if (taken % settings.release_every == 0) continue;  // told by the cadence's own release, one before
    EXPECT_EQ(last.clipped->since.value(), since_by_walking(taken, settings.release_every));
  }
}

// Whatever a record is replaced by, the count of its step moves by at most 1: Δ is 1 under both adjacencies. That no
// other step's count moves under noise that hides the gradient is what coupling_test plays.
TEST(ClippedCount, OfEveryNeighbourMovesByAtMostOneInOneStep) {
  int moved = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    lane::Settings settings = counting_settings(seed);
    settings.release_every = 1;
    settings.moments.reset();
    const StagedWorld world = staged_world(settings, counting_steps, seed, 0x1p30);
    StagedWorld other = world;
    std::mt19937_64 random(seed);
    const std::size_t record = random() % world.rows.count();
    const double factor = seed % 3 == 0 ? 0 : seed % 3 == 1 ? -50 : 0.01;
    const std::size_t entries = world.rows.dimension;
    for (std::size_t j = 0; j < entries; ++j) other.rows.x[record * entries + j] *= factor;
    if (factor == 0) other.rows.y[record] = 0;
    const std::size_t step = record / settings.minibatch;
    // One step of each world from the same state tells what the noise has to hide.
    const std::size_t rows_before = step * settings.minibatch;
    const auto grids = grids_for(settings);
    const auto after_step = [&](const StagedWorld& of) {
      lane::Lane lane(settings, grids, Position{0});
      lane::Releases releases;
      lane.advance(slice(world.rows, 0, rows_before), world.noise_from(0), releases);
      lane.advance(slice(of.rows, rows_before, rows_before + settings.minibatch), world.noise_from(step), releases);
      return std::pair(lane.clipped(), releases[releases.size() - 1].clipped->sum);
    };
    const auto [here, here_sum] = after_step(world);
    const auto [there, there_sum] = after_step(other);
    const auto difference = static_cast<std::int64_t>(here) - static_cast<std::int64_t>(there);
    EXPECT_LE(std::llabs(difference), 1) << seed;
    EXPECT_EQ(here_sum - there_sum, static_cast<double>(difference)) << seed;
    if (difference != 0) ++moved;
  }
  EXPECT_GT(moved, 60);
}

// Counting costs a share of ρ and nothing else: under the same noise the iterate's bytes are those without a count.
TEST(ClippedCount, ChangesNothingBesideIt) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const lane::Settings settings = counting_settings(seed);
    const StagedWorld world = staged_world(settings, counting_steps, seed, 0x1p30);
    lane::Settings without = settings;
    without.counts_clipped = false;
    StagedWorld quiet = world;
    quiet.units.pop_back();
    quiet.dimensions.pop_back();
    const std::string counting = counting_run(settings, world).lane.encode();
    const std::string plain = counting_run(without, quiet).lane.encode();
    ASSERT_EQ(counting.size(), plain.size() + 32) << seed;
    EXPECT_EQ(counting.substr(0, plain.size()), plain) << seed;
  }
}

// However the steps are cut into batches, and wherever a state is taken up, the bytes are the same.
TEST(ClippedCount, IsTheSameThroughEveryCutAndEveryState) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const lane::Settings settings = counting_settings(seed);
    const StagedWorld world =
        staged_world(settings, counting_steps, seed, 0x1p50);  // sums beyond 64 bits in few steps
    const auto grids = grids_for(settings);
    const CountingRun whole = counting_run(settings, world);
    std::mt19937_64 random(seed);
    lane::Lane lane(settings, grids, Position{0});
    lane::Releases releases;
    for (std::size_t t = 0; t < counting_steps;) {
      const std::size_t count = std::min<std::size_t>(1 + random() % 9, counting_steps - t);
      lane.advance(slice(world.rows, t * settings.minibatch, (t + count) * settings.minibatch), world.noise_from(t),
                   releases);
      t += count;
      lane = lane::Lane::decode(settings, grids, lane.encode());
    }
    EXPECT_EQ(lane.encode(), whole.lane.encode()) << seed;
    ASSERT_EQ(releases.size(), whole.releases.size());
    for (std::size_t r = 0; r < releases.size(); ++r) {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(releases[r].clipped->sum),
                std::bit_cast<std::uint64_t>(whole.releases[r].clipped->sum));
    }
    const std::string bytes = lane.encode();
    for (const std::size_t missing : {1U, 8U, 16U, 31U, 32U}) {
      EXPECT_THROW(lane::Lane::decode(settings, grids, bytes.substr(0, bytes.size() - missing)), InvalidParameter);
    }
  }
}

TEST(ClippedCount, IsRefusedWhereARecordHasTwoGradients) {
  lane::Settings settings = two_stage_settings(1, 1);
  settings.counts_clipped = true;
  EXPECT_THROW(lane::Lane(settings, grids_for(settings), Position{0}), InvalidParameter);
}

// On a grid that is coarser than a 1 nothing could be counted.
TEST(ClippedCount, IsRefusedUnderNoiseThatIsCoarserThanAGradient) {
  const lane::Settings settings = counting_settings(4);
  EXPECT_THROW(lane::Lane(settings, grids_for(settings, 0x1p36), Position{0}), InvalidParameter);
}

}  // namespace
}  // namespace nustream::tests
