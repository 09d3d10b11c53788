// The privacy argument, played out: two streams that differ in one record are made to release the same bytes, by a
// shift of one step's noise that is no longer than the sensitivity. So the releases depend on the record only through
// (gradient + noise) of its own step.
#include <gtest/gtest.h>

#include "support/descent_gradient.h"
#include "support/lane_world.h"

namespace nustream::tests {
namespace {

constexpr std::size_t pair_steps = 40;

struct Run {
  std::vector<std::uint64_t> releases;
  std::string state;
  bool operator==(const Run&) const = default;
};

Run run(const lane::Settings& settings, const noise::Grid& grid, const World& world) {
  lane::Lane lane(settings, grid, Position{1000});
  lane::Releases releases;
  advance(lane, settings, world, pair_steps, releases);
  lane.release_now(releases);
  return {bits(releases), lane.encode()};
}

// The kernel that descent::Loop prefers on this machine.
const descent::kernel::Variant& preferred() {
  for (const auto& variant : descent::kernel::variants()) {
    if (variant.available) return variant;
  }
  return descent::kernel::variants()[0];
}

std::vector<double> iterate_before(const lane::Settings& settings, const noise::Grid& grid, const World& world,
                                   std::size_t step) {
  lane::Lane lane(settings, grid, Position{1000});
  lane::Releases releases;
  advance(lane, settings, world, step, releases);
  return {lane.theta().begin(), lane.theta().end()};
}

// Makes `neighbour` equal to `world` but for one record, and shifts its noise at that record's step by the difference
// of the gradients. Returns the shift in units of the grid.
std::vector<std::int64_t> couple(const lane::Settings& settings, const noise::Grid& grid, const World& world,
                                 World& neighbour, std::size_t record) {
  const std::size_t d = settings.dimension;
  const std::size_t step = record / settings.minibatch;
  const auto theta = iterate_before(settings, grid, world, step);
  const auto gradient = [&](const World& of) {
    return gradient_units(preferred(), settings.loss, grid, theta, std::span(of.rows.x).subspan(record * d, d),
                          of.rows.y[record]);
  };
  const auto here = gradient(world);
  const auto there = gradient(neighbour);
  std::vector<std::int64_t> shift(d);
  for (std::size_t j = 0; j < d; ++j) {
    shift[j] = here[j] - there[j];
    neighbour.noise[step * d + j] += shift[j];
  }
  return shift;
}

TEST(LaneNeighbours, ZeroOutIsHiddenByAShiftOfNoMoreThanG) {
  int moved = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const lane::Settings settings = random_settings(seed);
    const noise::Grid grid = grid_for(settings);
    const World world = random_world(settings, pair_steps, seed, 0x1p32);
    World neighbour = world;
    const std::size_t record = seed * 31 % world.rows.count();
    std::fill_n(neighbour.rows.x.begin() + static_cast<std::ptrdiff_t>(record * settings.dimension),
                settings.dimension, 0.0);
    neighbour.rows.y[record] = 0;
    const auto shift = couple(settings, grid, world, neighbour, record);
    EXPECT_TRUE(within(shift, grid, settings.clip.value(), 1)) << seed;
    EXPECT_EQ(run(settings, grid, world), run(settings, grid, neighbour)) << seed;
    if (neighbour.noise == world.noise) continue;  // the change moved no gradient
    ++moved;
    neighbour.noise = world.noise;
    const bool bounded = !std::holds_alternative<descent::Unbounded>(settings.projection.family());
    if (!bounded) {
      EXPECT_NE(run(settings, grid, world), run(settings, grid, neighbour)) << seed;
    }
  }
  EXPECT_GT(moved, 300);
}

TEST(LaneNeighbours, ReplaceOneIsHiddenByAShiftOfNoMoreThanTwoG) {
  int beyond_one = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const lane::Settings settings = random_settings(seed);
    const noise::Grid grid = grid_for(settings);
    const World world = random_world(settings, pair_steps, seed, 0x1p32);
    World neighbour = world;
    const std::size_t record = seed * 17 % world.rows.count();
    for (std::size_t j = 0; j < settings.dimension; ++j) neighbour.rows.x[record * settings.dimension + j] *= -50;
    neighbour.rows.y[record] = seed % 3 == 0 ? 1e9 : -neighbour.rows.y[record];
    const auto shift = couple(settings, grid, world, neighbour, record);
    EXPECT_TRUE(within(shift, grid, settings.clip.value(), 2)) << seed;
    EXPECT_EQ(run(settings, grid, world), run(settings, grid, neighbour)) << seed;
    if (!within(shift, grid, settings.clip.value(), 1)) ++beyond_one;
  }
  EXPECT_GT(beyond_one, 30);  // a sensitivity of Δ = G would be too small
}

}  // namespace
}  // namespace nustream::tests
