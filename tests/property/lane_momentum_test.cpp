// Momentum: the state holds the velocity, the gradients have their noise before the velocity takes them in, and what
// correlated noise cancels stays cancelled under momentum and under a step size that cools down.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "nustream/inference/table_descent.h"
#include "nustream/privacy/sensitivity.h"
#include "support/lane_world.h"

namespace nustream::tests {
namespace {

lane::Settings with_momentum(model::Loss loss, double momentum) {
  lane::Settings settings = settings_for(3 * model::predictors(loss), loss);
  settings.momentum = momentum;
  settings.l2 = 0.1;
  return settings;
}

TEST(Momentum, GoesOnToTheBitFromItsEncodedState) {
  for (const model::Loss loss : {model::Loss{}, model::Loss{model::Loss::Kind::logistic}}) {
    const lane::Settings settings = with_momentum(loss, 0.9);
    const noise::Grid grid = grid_for(settings);
    const World world = random_world(settings, 60, 5, 0x1p31);
    lane::Lane whole(settings, grid, Position{1000});
    lane::Lane halves(settings, grid, Position{1000});
    lane::Releases of_whole;
    lane::Releases of_halves;
    advance(whole, settings, world, 60, of_whole);
    advance(halves, settings, world, 23, of_halves);
    halves = lane::Lane::decode(settings, grid, halves.encode());
    advance(halves, settings, world, 37, of_halves);
    EXPECT_EQ(bits(of_halves), bits(of_whole));
    EXPECT_EQ(halves.encode(), whole.encode());
  }
}

// The state of a lane without momentum did not change by a byte when momentum was added.
TEST(Momentum, OfZeroIsAPlainDescent) {
  const lane::Settings plain = with_momentum({}, 0);
  const World world = random_world(plain, 20, 6, 0x1p31);
  lane::Lane lane(plain, grid_for(plain), Position{1000});
  lane::Releases releases;
  advance(lane, plain, world, 20, releases);
  EXPECT_EQ(lane.encode().size(), 40U + 8 * plain.dimension);
  lane::Settings some = plain;
  some.momentum = 0.5;
  lane::Lane other(some, grid_for(some), Position{1000});
  lane::Releases theirs;
  advance(other, some, world, 20, theirs);
  EXPECT_EQ(other.encode().size(), 40U + 16 * plain.dimension);
  EXPECT_NE(bits(theirs), bits(releases));
  EXPECT_THROW((void)lane::Lane::decode(some, grid_for(some), lane.encode()), InvalidParameter);
}

TEST(Momentum, RefusesWhatDiverges) {
  for (const double momentum : {1.0, -0.1, std::nan("")}) {
    const lane::Settings settings = with_momentum({}, momentum);
    EXPECT_THROW((void)lane::Lane(settings, grid_for(settings), Position{0}), InvalidParameter) << momentum;
  }
}

descent::Schedule constant(double size) {
  return descent::Schedule{descent::Constant{StepSize{size}}};
}

descent::Schedule cooled(double size, double share, double floor, std::uint64_t steps) {
  return descent::Schedule{
      descent::Cooldown{std::make_shared<const descent::Schedule>(constant(size)), share, floor, StepCount{steps}}};
}

/// γ times the deviation that the noise leaves in the last iterate at curvature 1: ρ has to pay for this product.
double cost(const noise::Correlation& correlation, const descent::Schedule& schedule, double momentum,
            std::uint64_t steps) {
  const double left = inference::last_iterate(correlation, schedule, 1, momentum, steps).noise_variance;
  return std::sqrt(left) *
         privacy::sensitivity(correlation, StepCount{steps}, privacy::Participation::once()).value();
}

// The step size falls over the last quarter of the steps to a twentieth, as in CDP+ appendix G.1. Correlated noise
// gains more by this than independent noise. The expected figures are those of docs/reproduction.md, which a separate
// program computed.
TEST(Cooldown, KeepsWhatCorrelatedNoiseCancels) {
  constexpr std::uint64_t steps = 1024;
  const noise::Correlation nu{noise::NuFtrl{Damping{0.02}, StepCount{steps}}};
  const noise::Correlation independent{noise::Independent{}};
  const descent::Schedule cooling = cooled(0.02, 0.25, 0.05, steps);
  EXPECT_NEAR(cost(nu, constant(0.02), 0, steps), 0.03846, 1e-5);
  EXPECT_NEAR(cost(nu, cooling, 0, steps), 0.01300, 1e-5);
  EXPECT_NEAR(cost(independent, constant(0.02), 0, steps), 0.10050, 1e-5);
  EXPECT_NEAR(cost(independent, cooling, 0, steps), 0.06226, 1e-5);
}

// Momentum filters the same noisy gradients. At the same long-run reach η/(1 − μ) it leaves less of correlated noise,
// whose power lies where the filter damps, and as much of independent noise as before.
TEST(Momentum, SuitsCorrelatedNoise) {
  constexpr std::uint64_t steps = 1024;
  const noise::Correlation nu{noise::NuFtrl{Damping{0.02}, StepCount{steps}}};
  const noise::Correlation independent{noise::Independent{}};
  EXPECT_NEAR(cost(nu, constant(0.002), 0.9, steps), 0.02675, 1e-5);
  EXPECT_NEAR(cost(nu, constant(0.001), 0.95, steps), 0.02471, 1e-5);
  EXPECT_NEAR(cost(independent, constant(0.002), 0.9, steps), 0.10003, 1e-5);
  EXPECT_NEAR(cost(independent, constant(0.001), 0.95, steps), 0.10001, 1e-5);
}

// The recursion of last_iterate() against the lane itself. The lane estimates a mean, whose gradient is linear, and
// has no records.
TEST(LastIterate, IsTheLanesOwn) {
  for (const double momentum : {0.0, 0.7}) {
    lane::Settings settings = settings_for(1, {model::Loss::Kind::mean}, 1.0, 0.1);
    settings.momentum = momentum;
    settings.schedule = cooled(0.1, 0.5, 0.1, 12);
    settings.start = {2.5};
    const noise::Grid grid = grid_for(settings);
    for (std::size_t at = 0; at < 12; ++at) {
      const auto end_of = [&](std::int64_t units) {
        World world{rows_of(1, std::vector<double>(12), std::vector<double>(12)), std::vector<std::int64_t>(12)};
        world.noise[at] = units;
        lane::Lane lane(settings, grid, Position{0});
        lane::Releases releases;
        advance(lane, settings, world, 12, releases);
        return lane.theta()[0];
      };
      const double without = end_of(0);
      EXPECT_NEAR(
          without,
          2.5 * inference::last_iterate(noise::Correlation{noise::Independent{}}, settings.schedule, 1, momentum, 12)
                    .start,
          1e-12);
      // A huge diagonal of C elsewhere leaves noise in a single step, so that this step's share shows alone.
      std::vector<double> rows(12, 1e9);
      rows[at] = 1;
      const noise::Correlation only{noise::Dense{rows, 1, StepCount{12}}};
      const double share =
          std::sqrt(inference::last_iterate(only, settings.schedule, 1, momentum, 12).noise_variance);
      const auto one = static_cast<std::int64_t>(std::llround(1 / grid.spacing()));
      EXPECT_NEAR(std::abs(end_of(one) - without), share, 1e-6) << at;
    }
  }
}

}  // namespace
}  // namespace nustream::tests
