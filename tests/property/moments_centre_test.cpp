// A lane of running sums that begins about a released centre, as a new epoch does: its sensitivity and its noise are
// those of any public centre, and its results are those of a twin that begins there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nustream/base/error.h"
#include "support/moments_twin.h"

namespace nustream::tests {
namespace {

/// A centre such as another run may have released.
std::vector<double> any_centre(const moments::Settings& settings, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> centre(settings.mechanism.design.shape.coefficients());
  for (double& entry : centre) entry = std::pow(10.0, static_cast<double>(random() % 3)) * normal(random);
  return centre;
}

// A new epoch begins about what the last one released: the start in its settings is then nowhere in its results.
TEST(SumsLaneBegunAboutACentre, AgreesWithATwinThatBeginsThere) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const moments::Settings settings = twin_settings(seed);
    const std::vector<double> centre = any_centre(settings, seed);
    moments::Lane lane(settings, Position{1000});
    lane.begin_about(centre);
    compared += agreements(std::move(lane), SumsTwin(settings, centre), settings, sums_world(settings, 12, seed));
  }
  EXPECT_GT(compared, 200U);
}

// The releases and states are those of settings that start at the centre, to the bit: the settings' start is one
// public centre among others.
TEST(SumsLaneBegunAboutACentre, IsOneWhoseSettingsStartThere) {
  for (const moments::Settings& settings : all_kinds()) {
    const std::size_t m = settings.mechanism.participation.batch;
    const SumsWorld world = sums_world(settings, 9, 3);
    moments::Settings there = settings;
    there.start = any_centre(settings, 5);
    moments::Lane expected(there, Position{7});
    moments::Lane begun(settings, Position{7});
    begun.begin_about(there.start);
    EXPECT_EQ(begun.encode(), expected.encode());
    // The state holds the centre, and the settings that it is read with do not.
    begun = moments::Lane::decode(settings, begun.encode());
    moments::Releases of_expected;
    moments::Releases of_begun;
    advance(expected, there, world, 0, 9 * m, of_expected);
    advance(begun, settings, world, 0, 9 * m, of_begun);
    expect_equal(of_begun, of_expected);
    EXPECT_EQ(begun.encode(), expected.encode());
  }
}

/// The squared length of the difference of two lanes' noisy sums, for each block and in units of the block's radius.
std::vector<double> moved_by(const moments::Settings& settings, const moments::Lane& one, const moments::Lane& two) {
  const moments::Design& design = settings.mechanism.design;
  const moments::StageSums& a = one.sums().stages().back();
  const moments::StageSums& b = two.sums().stages().back();
  const auto squares = [](std::span<const double> x, std::span<const double> y) {
    double sum = 0;
    for (std::size_t j = 0; j < x.size(); ++j) sum += (x[j] - y[j]) * (x[j] - y[j]);
    return sum;
  };
  const double inputs = a.radii.inputs;
  const std::size_t regressors = moments::entries(design, moments::Block::regressors);
  const std::span<const double> ca(a.cross), cb(b.cross);
  std::vector<double> all{squares(a.second, b.second) / std::pow(inputs, 4)};
  if (regressors > 0) {
    all.push_back(squares(ca.first(regressors), cb.first(regressors)) / std::pow(inputs * a.radii.regressors, 2));
  }
  all.push_back(squares(ca.subspan(regressors), cb.subspan(regressors)) / std::pow(inputs * a.radii.target, 2));
  return all;
}

/// Raises `largest` to the longest move of each block over all pairs of rows of one step: row i is left out, or
/// replaced by row j, a thousand times as long and with responses far on the other side.
void raise_by_pairs(const moments::Settings& settings, std::uint64_t seed, std::vector<double>& largest) {
  const std::vector<double> centre = any_centre(settings, seed);
  const SumsWorld world = sums_world(settings, 1, seed);
  const auto lane_over = [&](const SumsWorld& rows) {
    moments::Lane lane(settings, Position{0});
    lane.begin_about(centre);
    moments::Releases releases;
    advance(lane, settings, rows, 0, 12, releases);
    return lane;
  };
  const moments::Lane whole = lane_over(world);
  const bool left_out = settings.mechanism.design.neighbours.adjacency == privacy::Adjacency::zero_out;
  const std::size_t width = world.rows.dimension;
  for (std::size_t i = 0; i < 12; ++i) {
    for (std::size_t j = 0; j < 12; ++j) {
      SumsWorld other = world;
      for (std::size_t k = 0; k < width; ++k) {
        const double longer = k < settings.mechanism.design.shape.inputs ? 1e3 : -1e6;
        other.rows.x[i * width + k] = left_out ? 0 : longer * world.rows.x[j * width + k];
      }
      other.rows.y[i] = left_out ? 0 : -1e6 * world.rows.y[j];
      const std::vector<double> moved = moved_by(settings, whole, lane_over(other));
      for (std::size_t b = 0; b < moved.size(); ++b) largest[b] = std::max(largest[b], std::sqrt(moved[b]));
    }
  }
}

// The sensitivity follows from the radii alone, wherever the centre is. The test searches pairs of records by brute
// force; the largest moves come close to what is claimed.
TEST(SumsLaneBegunAboutACentre, ARecordMovesTheSumsByNoMoreThanElsewhere) {
  for (const auto adjacency : {privacy::Adjacency::zero_out, privacy::Adjacency::replace_one}) {
    for (const std::size_t endogenous : {0U, 2U}) {
      std::vector<double> largest(endogenous > 0 ? 3 : 2);
      for (std::uint64_t seed = 0; seed < 6; ++seed) {
        moments::Settings settings =
            redesigned(linear_settings(2, 12), {{2, endogenous}, moments::Spread::none, {adjacency, false}});
        settings.stages = {{0, {2, 3, 1.5}}};
        raise_by_pairs(settings, seed, largest);
      }
      for (std::size_t b = 0; b < largest.size(); ++b) {
        const moments::Design design{{2, endogenous}, moments::Spread::none, {adjacency, false}};
        const double claimed = moments::displacement(design, moments::noised_blocks(design)[b]).value();
        EXPECT_LE(largest[b], claimed * (1 + 1e-9)) << endogenous << ' ' << b;
        EXPECT_GT(largest[b], .9 * claimed) << endogenous << ' ' << b;
      }
    }
  }
}

// Rows of zeros leave the noise alone in the sums. In units of the radii it is the same whatever the centre is.
TEST(SumsLaneBegunAboutACentre, TheNoiseIsThatOfTheRadii) {
  for (const moments::Settings& settings : all_kinds()) {
    if (settings.mechanism.design.neighbours.target_only) continue;
    SumsWorld world = sums_world(settings, 3, 6);
    std::ranges::fill(world.rows.x, 0.0);
    std::ranges::fill(world.rows.y, 0.0);
    const std::size_t m = settings.mechanism.participation.batch;
    const moments::Radii& radii = settings.stages.front().radii;
    const std::vector<noise::Grid> grids = moments::grids(settings);
    const double kept = settings.memory ? 1 - static_cast<double>(m) / static_cast<double>(*settings.memory) : 1;
    moments::Lane lane(settings, Position{0});
    lane.begin_about(any_centre(settings, 8));
    moments::Releases releases;
    const std::size_t steps = settings.repeat_every > 0 ? 1 : 3;
    advance(lane, settings, world, 0, steps * m, releases);
    const auto expected = [&](std::size_t block, std::size_t size, std::size_t entry, double radius) {
      double sum = 0;
      for (std::size_t t = 0; t < steps; ++t) {
        sum =
            kept * sum + static_cast<double>(world.noise[block][t * size + entry]) * grids[block].spacing() * radius;
      }
      return sum;
    };
    const moments::StageSums& sums = lane.sums().stages().back();
    const std::size_t triangle = sums.second.size();
    for (std::size_t j = 0; j < triangle; ++j) {
      EXPECT_NEAR(sums.second[j], expected(0, triangle, j, radii.inputs * radii.inputs), 1e-9);
    }
    const std::size_t regressors = moments::entries(settings.mechanism.design, moments::Block::regressors);
    for (std::size_t j = 0; j < sums.cross.size(); ++j) {
      const bool of_regressors = j < regressors;
      const std::size_t block = of_regressors || regressors == 0 ? 1 : 2;
      const std::size_t size = of_regressors ? regressors : sums.cross.size() - regressors;
      const double radius = radii.inputs * (of_regressors ? radii.regressors : radii.target);
      EXPECT_NEAR(sums.cross[j], expected(block, size, of_regressors ? j : j - regressors, radius), 1e-9);
    }
  }
}

TEST(SumsLaneBegunAboutACentre, IsBegunAboutNothingThatIsNoCentre) {
  const moments::Settings settings = linear_settings(2, 10);
  moments::Lane lane(settings, Position{0});
  const std::string before = lane.encode();
  EXPECT_THROW(lane.begin_about(std::vector<double>{1}), InvalidParameter);
  EXPECT_THROW(lane.begin_about(std::vector<double>{1, std::nan("")}), InvalidParameter);
  EXPECT_THROW(lane.begin_about(std::vector<double>{1, 0x1p101}), InvalidParameter);
  EXPECT_EQ(lane.encode(), before) << "what is refused changes nothing";
  const SumsWorld world = sums_world(settings, 1, 1);
  moments::Releases releases;
  advance(lane, settings, world, 0, 1, releases);
  EXPECT_DEATH(lane.begin_about(std::vector<double>{0, 0}), "before its first row");
}

}  // namespace
}  // namespace nustream::tests
