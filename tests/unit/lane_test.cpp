#include "nustream/lane/lane.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "nustream/base/error.h"
#include "support/lane_world.h"

namespace nustream::tests {
namespace {

using Kind = model::Loss::Kind;

TEST(Lane, BeginsAtItsStart) {
  auto settings = settings_for(2, {Kind::linear});
  settings.start = {1.5, -2};
  const lane::Lane lane(settings, grid_for(settings), Position{42});
  EXPECT_EQ(lane.steps().value(), 0U);
  EXPECT_EQ(lane.position().value(), 42U);
  EXPECT_EQ(std::vector(lane.theta().begin(), lane.theta().end()), settings.start);
  lane::Releases releases;
  lane.release_now(releases);
  EXPECT_EQ(releases[0].theta[1], -2);
  EXPECT_TRUE(releases[0].average.empty());
}

// Every number is a power of two, so the step is exact: θ = 0 − ½((−1·(1, 2) + z)/1 + ¼·0).
TEST(Lane, TakesTheStepOfTheEquation) {
  auto settings = settings_for(2, {Kind::linear}, 16.0, 0.5);
  settings.l2 = 0.25;
  const noise::Grid grid = grid_for(settings);
  lane::Lane lane(settings, grid, Position{0});
  const auto rows = rows_of(2, {1, 2, 0, 0}, {1, 0});
  const auto unit = static_cast<std::int64_t>(1 / grid.spacing());
  const std::vector<std::int64_t> noise = {4 * unit, -unit, 0, 0};
  lane::Releases releases;
  lane.advance(slice(rows, 0, 2), {StepIndex{0}, 2, noise}, releases);
  ASSERT_EQ(releases.size(), 2U);
  EXPECT_EQ(releases[0].theta[0], -1.5);
  EXPECT_EQ(releases[0].theta[1], 1.5);
  // The step of a bad record has no gradient, but the regulariser applies and the step counts.
  EXPECT_EQ(releases[1].theta[0], -1.5 * (1 - 0.125));
  EXPECT_EQ(releases[1].steps.value(), 2U);
}

TEST(Lane, DividesByTheNominalMinibatch) {
  auto settings = settings_for(1, {Kind::mean}, 16.0, 1.0);
  settings.minibatch = 4;
  const noise::Grid grid = grid_for(settings);
  lane::Lane lane(settings, grid, Position{0});
  const auto rows = rows_of(1, {8, 0, 0, 0}, {0, 0, 0, 0});  // three bad records
  const std::vector<std::int64_t> noise = {-static_cast<std::int64_t>(4 / grid.spacing())};
  lane::Releases releases;
  lane.advance(slice(rows, 0, 4), {StepIndex{0}, 1, noise}, releases);
  EXPECT_EQ(lane.theta()[0], 3.0);  // (8 + 4)/4
}

TEST(Lane, ABadRecordsStepStillAddsNoise) {
  for (const Kind kind : model::single_predictor_kinds()) {
    const auto settings = settings_for(1, {kind}, 1.0, 1.0);
    const noise::Grid grid = grid_for(settings);
    lane::Lane lane(settings, grid, Position{0});
    const double nan = std::nan("");
    const auto rows = rows_of(1, {0, nan}, {0, nan});
    const auto unit = static_cast<std::int64_t>(1 / grid.spacing());
    lane::Releases releases;
    lane.advance(slice(rows, 0, 2), {StepIndex{0}, 1, std::vector{unit, unit}}, releases);
    EXPECT_EQ(lane.steps().value(), 2U);
    EXPECT_EQ(releases[0].theta[0], -1.0) << model::name(kind);
    EXPECT_EQ(releases[1].theta[0], kind == Kind::mean ? -1.0 : -2.0) << model::name(kind);
  }
}

TEST(Lane, SumsSaturateInsteadOfWrapping) {
  auto settings = settings_for(1, {Kind::mean}, 1.0, 1.0);
  const noise::Grid grid = grid_for(settings);
  for (const std::int64_t end : {INT64_MAX, INT64_MIN}) {
    lane::Lane lane(settings, grid, Position{0});
    const auto rows = rows_of(1, {end > 0 ? -1.0 : 1.0}, {0});  // the gradient −x pushes further out
    lane::Releases releases;
    lane.advance(slice(rows, 0, 1), {StepIndex{0}, 1, std::vector{end}}, releases);
    EXPECT_EQ(lane.theta()[0], -static_cast<double>(end) * grid.spacing());
  }
}

TEST(Lane, CountsWhatItClipped) {
  const auto settings = settings_for(1, {Kind::mean}, 1.0);
  lane::Lane lane(settings, grid_for(settings), Position{0});
  const auto rows = rows_of(1, {0.5, 2, -3, 1e200, std::nan("")}, {0, 0, 0, 0, 0});
  lane::Releases releases;
  lane.advance(slice(rows, 0, 5), {StepIndex{0}, 1, std::vector<std::int64_t>(5)}, releases);
  EXPECT_EQ(lane.clipped(), 3U);
}

TEST(Lane, ADivergedIterateIsShownAndStays) {
  auto settings = settings_for(2, {Kind::linear}, 1.0, 1e300);
  settings.l2 = 1e300;
  const noise::Grid grid = grid_for(settings);
  const World world = random_world(settings, 20, 1, 0x1p32);
  lane::Lane lane(settings, grid, Position{0});
  lane::Releases releases;
  advance(lane, settings, world, 20, releases);
  EXPECT_TRUE(std::isnan(lane.theta()[0]));
  EXPECT_EQ(lane.steps().value(), 20U);
  // The state of such a lane is canonical and can be restored.
  const std::string bytes = lane.encode();
  EXPECT_EQ(lane::Lane::decode(settings, grid, bytes).encode(), bytes);
}

TEST(Lane, RefusesSettingsThatMakeNoLane) {
  const auto refuses = [](const auto& change) {
    auto settings = settings_for(3, {Kind::linear});
    change(settings);
    const noise::Grid grid = grid_for(settings);
    EXPECT_THROW(lane::Lane(settings, grid, Position{0}), InvalidParameter);
  };
  refuses([](lane::Settings& settings) { settings.dimension = 0; });
  refuses([](lane::Settings& settings) { settings.start.pop_back(); });
  refuses([](lane::Settings& settings) { settings.start[1] = std::nan(""); });
  refuses([](lane::Settings& settings) { settings.l2 = -1; });
  refuses([](lane::Settings& settings) { settings.minibatch = 0; });
  refuses([](lane::Settings& settings) { settings.release_every = 0; });
  refuses([](lane::Settings& settings) { settings.loss = {Kind::huber, 0}; });
  refuses([](lane::Settings& settings) { settings.averaging = {descent::Averaging::Kind::exponential, 0, 1}; });
  refuses([](lane::Settings& settings) { settings.projection = descent::Projection{descent::Box{{0, 0}, {1, 1}}}; });
}

// With the grid of a larger clip norm, a record would weigh more than the noise was scaled for.
TEST(Lane, RefusesTheGridOfALargerClipNorm) {
  const auto settings = settings_for(1, {Kind::linear}, 1.0);
  const noise::Grid grid(NoiseStddev{1}, 1.0, ClipNorm{1.001});
  EXPECT_THROW(lane::Lane(settings, grid, Position{0}), InvalidParameter);
}

TEST(LaneContracts, NoiseIsUsedAtItsOwnStepsAndNowhereElse) {
  auto settings = settings_for(2, {Kind::linear});
  settings.minibatch = 2;
  const World world = random_world(settings, 4, 1, 1);
  const noise::Grid grid = grid_for(settings);
  lane::Lane lane(settings, grid, Position{0});
  lane::Releases releases;
  advance(lane, settings, world, 2, releases);
  const auto rows = slice(world.rows, 4, 8);
  const std::span noise(world.noise);
  EXPECT_DEATH(lane.advance(rows, {StepIndex{0}, 2, noise}, releases), "next step");
  EXPECT_DEATH(lane.advance(rows, {StepIndex{3}, 2, noise}, releases), "next step");
  EXPECT_DEATH(lane.advance(rows, {StepIndex{2}, 2, noise.first(3)}, releases), "own noise");
  EXPECT_DEATH(lane.advance(rows, {StepIndex{2}, 1, noise}, releases), "dimension");
  EXPECT_DEATH(lane.advance(slice(world.rows, 4, 7), {StepIndex{2}, 2, noise}, releases), "minibatch ends");
}

}  // namespace
}  // namespace nustream::tests
