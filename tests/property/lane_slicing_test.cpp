// Where batches are cut, and where a state is encoded and decoded, changes no bit of what is released.
#include <gtest/gtest.h>

#include "support/lane_world.h"

namespace nustream::tests {
namespace {

constexpr std::size_t length = 700;  // more steps than a lane prepares at a time

std::vector<std::uint64_t> undisturbed(const lane::Settings& settings, const World& world, std::string& state) {
  lane::Lane lane(settings, grid_for(settings), Position{1000});
  lane::Releases releases;
  advance(lane, settings, world, length, releases);
  lane.release_now(releases);
  state = lane.encode();
  return bits(releases);
}

TEST(Lane, ReleasesTheSameHoweverItsBatchesAreCut) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const lane::Settings settings = random_settings(seed);
    const World world = random_world(settings, length, seed, 0x1p31);
    std::string state;
    const auto expected = undisturbed(settings, world, state);
    std::mt19937_64 random(seed);
    lane::Lane lane(settings, grid_for(settings), Position{1000});
    lane::Releases releases;
    while (lane.steps().value() < length) {
      const std::size_t left = length - lane.steps().value();
      // Batches of no steps are among them.
      advance(lane, settings, world, std::min<std::size_t>(left, random() % 40), releases);
    }
    lane.release_now(releases);
    ASSERT_EQ(bits(releases), expected) << seed;
    ASSERT_EQ(lane.encode(), state) << seed;
  }
}

TEST(Lane, GoesOnToTheBitFromItsEncodedState) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const lane::Settings settings = random_settings(seed);
    const noise::Grid grid = grid_for(settings);
    const World world = random_world(settings, length, seed, 0x1p31);
    std::string state;
    const auto expected = undisturbed(settings, world, state);
    std::mt19937_64 random(seed);
    lane::Lane lane(settings, grid, Position{1000});
    lane::Releases releases;
    while (lane.steps().value() < length) {
      const std::size_t left = length - lane.steps().value();
      advance(lane, settings, world, std::min<std::size_t>(left, 1 + random() % 90), releases);
      const std::string bytes = lane.encode();
      lane = lane::Lane::decode(settings, grid, bytes);
      ASSERT_EQ(lane.encode(), bytes);
    }
    lane.release_now(releases);
    ASSERT_EQ(bits(releases), expected) << seed;
    ASSERT_EQ(lane.encode(), state) << seed;
  }
}

}  // namespace
}  // namespace nustream::tests
