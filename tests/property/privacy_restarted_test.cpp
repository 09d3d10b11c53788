// The sensitivity of noise that begins anew every so many steps, against the definition, over patterns that span
// several of its blocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/privacy/sensitivity.h"
#include "nustream/privacy/zcdp.h"
#include "privacy_brute_force.h"
#include "privacy_random.h"

namespace nustream::privacy {
namespace {

using noise::Correlation;

/// A correlation of `every` steps whose c falls, so that the cost of a block is exact.
Correlation falling(Random& random, std::uint64_t every) {
  switch (random.integer(0, 3)) {
    case 0:
      return Correlation{noise::NuFtrl{Damping{random.real(0, 0.3)}, StepCount{every}}};
    case 1:
      return Correlation{noise::AntiPgd{StepCount{every}}};
    case 2:
      return Correlation{noise::Rational::nu_ftrl(Damping{random.real(1e-3, 0.5)}, random.integer(1, 4)),
                         StepCount{every}};
    default:
      return Correlation{noise::Strategy{{1, 0.7, 0.4, 0.2}, StepCount{every}}};
  }
}

/// Any other correlation with a horizon: its c changes sign, or it is a matrix.
Correlation wandering(Random& random, std::uint64_t every) {
  if (random.integer(0, 1) == 0) {
    return Correlation{noise::Windowed{{1, random.real(-0.6, 0.6), random.real(-0.6, 0.6)}, StepCount{every}}};
  }
  std::vector<double> rows;
  for (std::uint64_t t = 0; t < every; ++t) {
    for (std::uint64_t i = 0; i < t; ++i) rows.push_back(random.real(-0.5, 0.7));
    rows.push_back(random.real(0.5, 1.5));
  }
  return Correlation{noise::Dense{rows, every, StepCount{every}}};
}

Correlation anew(const Correlation& block) {
  return Correlation{noise::Restarted{block}};
}

/// A restarted correlation: of the one kind in even trials and of the other in odd ones.
Correlation either_anew(Random& random, int trial, std::uint64_t every) {
  return anew(trial % 2 == 0 ? falling(random, every) : wandering(random, every));
}

std::string text(const Correlation& correlation, std::uint64_t every, std::uint64_t steps, const Participation& of) {
  return correlation.name() + ", R " + std::to_string(every) + ", T " + std::to_string(steps) + ", k " +
         std::to_string(of.times()) + ", b " + std::to_string(of.separation());
}

TEST(RestartedSensitivity, NeverBelowTheWorstPatternOverAllBlocks) {
  Random random{std::mt19937_64{41}};
  for (int trial = 0; trial < 600; ++trial) {
    const std::uint64_t every = random.integer(1, 6);
    const Correlation correlation = either_anew(random, trial, every);
    const std::uint64_t steps = random.integer(1, 13);
    const Participation participation{random.integer(1, 6), random.integer(1, 5)};
    const double worst = brute_force::squared_sensitivity(correlation, steps, participation);
    EXPECT_GE(squared(correlation, steps, participation) * (1 + 1e-13), worst)
        << text(correlation, every, steps, participation);
  }
}

TEST(RestartedSensitivity, IsTheWorstPatternWhereBlocksHoldWholeSeparations) {
  Random random{std::mt19937_64{43}};
  for (int trial = 0; trial < 300; ++trial) {
    const std::uint64_t separation = random.integer(1, 3);
    const std::uint64_t every = separation * random.integer(1, 3);
    const Correlation correlation = anew(falling(random, every));
    const std::uint64_t steps = random.integer(1, 13);
    const Participation participation{random.integer(1, 7), separation};
    const double worst = brute_force::squared_sensitivity(correlation, steps, participation);
    EXPECT_NEAR(squared(correlation, steps, participation), worst, 2e-12 * worst)
        << text(correlation, every, steps, participation);
  }
}

TEST(RestartedSensitivity, OfOneParticipationIsThatOfOneBlock) {
  Random random{std::mt19937_64{47}};
  for (int trial = 0; trial < 300; ++trial) {
    const std::uint64_t every = random.integer(1, 6);
    const Correlation correlation = either_anew(random, trial, every);
    const std::uint64_t steps = random.integer(1, 14);
    const double worst = brute_force::squared_sensitivity(correlation, steps, Participation::once());
    EXPECT_NEAR(squared(correlation, steps, Participation::once()), worst, 2e-12 * worst)
        << text(correlation, every, steps, Participation::once());
    const double limit = std::pow(sensitivity_limit(correlation, Participation::once()).value(), 2);
    EXPECT_GE(limit * (1 + 1e-13), worst);
  }
}

// Three passes over 100 records, where the noise begins anew with each pass or with every other pass. A record then
// costs three blocks, or the pair of steps in one block and the single step in the next.
TEST(RestartedSensitivity, AddsUpOverEpochs) {
  const auto block = [](std::uint64_t every) { return Correlation{noise::NuFtrl{Damping{0}, StepCount{every}}}; };
  const Participation three{3, 100};
  const double one = squared(block(100), 100, Participation::once());
  EXPECT_NEAR(squared(anew(block(100)), 300, three), 3 * one, 1e-11);
  EXPECT_NEAR(squared(anew(block(200)), 300, three), squared(block(200), 200, {2, 100}) + one, 1e-11);
  EXPECT_NEAR(std::pow(sensitivity_limit(anew(block(100)), three).value(), 2), 3 * one, 1e-11);
}

// At sizes where the dynamic programme would take too long there are bounds instead, which are never below what it
// gives.
TEST(RestartedSensitivity, BoundsManyParticipations) {
  const Correlation block{noise::NuFtrl{Damping{0.01}, StepCount{200}}};
  const double full = squared(block, 200, {200, 1});
  // A table that takes part in every step: all blocks are as full as they get, and the last one is only begun.
  EXPECT_NEAR(squared(anew(block), 1000, {1000, 1}), 5 * full, 1e-9 * full);
  EXPECT_NEAR(squared(anew(block), 1050, {1050, 1}), 5 * full + squared(block, 50, {50, 1}), 1e-9 * full);
  // 300 of a thousand steps cost more than a block and a half, and no more than five blocks.
  const double some = squared(anew(block), 1000, {300, 1});
  EXPECT_GE(some, full + squared(block, 200, {100, 1}));
  EXPECT_LE(some, 5 * full * (1 + 1e-12));
}

TEST(RestartedSensitivity, NeverFallsWithMoreStepsOrParticipations) {
  Random random{std::mt19937_64{53}};
  for (int trial = 0; trial < 200; ++trial) {
    const std::uint64_t every = random.integer(1, 300);
    const Correlation correlation = anew(falling(random, every));
    const Participation participation{random.integer(1, 900), random.integer(1, 40)};
    const std::uint64_t steps = random.integer(1, 2000);
    const double now = squared(correlation, steps, participation);
    const std::string setting = text(correlation, every, steps, participation);
    EXPECT_GE(squared(correlation, steps + random.integer(1, 2000), participation) * (1 + 1e-13), now) << setting;
    EXPECT_GE(std::pow(sensitivity_limit(correlation, participation).value(), 2) * (1 + 1e-13), now) << setting;
  }
}

// A running spend that is asked for at rising step counts, and one of a copy that remembers nothing, are the same to
// the bit.
TEST(RestartedSensitivity, SpendDoesNotDependOnWhatWasAskedBefore) {
  const Correlation correlation = anew(Correlation{noise::NuFtrl{Damping{0.01}, StepCount{37}}});
  const Spend spend(correlation, {5, 11}, NoiseMultiplier{3});
  for (std::uint64_t steps = 1; steps < 400; steps += 7) {
    EXPECT_EQ(spend.after(StepCount{steps}), Spend(correlation, {5, 11}, NoiseMultiplier{3}).after(StepCount{steps}));
  }
  EXPECT_EQ(spend.after(StepCount{10}), Spend(correlation, {5, 11}, NoiseMultiplier{3}).after(StepCount{10}));
  EXPECT_LE(spend.after(StepCount{399}), spend.limit());
}

TEST(Restarted, RefusesWhatHasNoEndOrRestartsByItself) {
  EXPECT_THROW(noise::Restarted{Correlation{noise::Independent{}}}, InvalidParameter);
  EXPECT_THROW((noise::Restarted{Correlation{noise::Tree{3, noise::Tree::Estimator::plain, false}}}),
               InvalidParameter);
  EXPECT_THROW(noise::Restarted{anew(Correlation{noise::AntiPgd{StepCount{3}}})}, InvalidParameter);
  const Correlation correlation = anew(Correlation{noise::AntiPgd{StepCount{3}}});
  EXPECT_EQ(correlation.horizon(), std::nullopt);
  EXPECT_FALSE(correlation.toeplitz());
  EXPECT_EQ((Correlation{correlation.family(), StepCount{7}}).horizon(), StepCount{7});
}

}  // namespace
}  // namespace nustream::privacy
