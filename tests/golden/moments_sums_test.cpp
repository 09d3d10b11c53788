// Noise and sensitivity of running sums against numbers that were computed elsewhere.
#include <gtest/gtest.h>

#include <cmath>

#include "moments_sums_reference.h"
#include "nustream/moments/budget.h"
#include "nustream/moments/participation.h"
#include "nustream/moments/stage_noise.h"
#include "nustream/privacy/sensitivity.h"

namespace nustream::moments {
namespace {

noise::Correlation exact(double nu, std::uint64_t steps) {
  return noise::Correlation{noise::NuFtrl{Damping{nu}, StepCount{steps}}};
}

double variance(const noise::Correlation& correlation, double kept, std::uint64_t steps) {
  const std::uint64_t first[] = {0};
  return StageNoise(correlation, kept).covariance(first, StepCount{steps}).front();
}

double squared_limit(double nu) {
  const noise::Correlation correlation{noise::NuFtrl{Damping{nu}, {}}};
  return std::pow(privacy::sensitivity_limit(correlation, privacy::Participation::once()).value(), 2);
}

TEST(SumsReference, NoiseOfAKnownNumberOfReleases) {
  for (const auto& expected : reference::known_lengths) {
    const noise::Correlation correlation = exact(0, expected.releases);
    const double sensitivity = sensitivity_limit(correlation, {}).value();
    EXPECT_NEAR(sensitivity * sensitivity * variance(correlation, 1, expected.releases), expected.variance,
                1e-12 * expected.variance);
  }
}

TEST(SumsReference, NoiseOfPlainSumsUnderATinyDamping) {
  for (const auto& expected : reference::plain_sums) {
    const double found =
        squared_limit(expected.nu) * variance(exact(expected.nu, expected.releases), 1, expected.releases);
    EXPECT_NEAR(found, expected.variance, 1e-11 * expected.variance) << expected.nu;
    // The rational correlation, which has no end and is what a run generates, comes close with its own sensitivity.
    const noise::Correlation rational{noise::Rational::nu_ftrl(Damping{expected.nu})};
    const double own =
        std::pow(sensitivity_limit(rational, {}).value(), 2) * variance(rational, 1, expected.releases);
    EXPECT_NEAR(own, expected.variance, 0.01 * expected.variance) << expected.nu;
  }
}

TEST(SumsReference, NoiseOfSumsThatForget) {
  for (const auto& expected : reference::forgetting_sums) {
    const double found =
        squared_limit(expected.nu) * variance(exact(expected.nu, expected.steps), 1 - expected.nu, expected.steps);
    EXPECT_NEAR(found, expected.variance, 1e-11 * expected.variance) << expected.nu;
  }
}

TEST(SumsReference, AUnitWithSeveralRecords) {
  for (const auto& expected : reference::several_records) {
    const BatchParticipation participation{expected.times, expected.separation, expected.batch};
    const double found =
        sensitivity(exact(expected.nu, expected.steps), StepCount{expected.steps}, participation).value();
    EXPECT_GE(found * found, expected.squared_sensitivity * (1 - 1e-12));
    EXPECT_LE(found * found, 1.08 * expected.squared_sensitivity);
  }
}

TEST(SumsReference, ReplacingARecordMovesBothSumsButNotByTheirMost) {
  Design design;
  design.shape.inputs = 2;
  design.neighbours.adjacency = privacy::Adjacency::replace_one;
  for (const auto& expected : reference::replacements) {
    const double found = joint(design, {Rho{expected.second}, Rho{expected.responses}}).value();
    EXPECT_NEAR(found, expected.together, 1e-14);
    EXPECT_GE(found, expected.together);
  }
}

}  // namespace
}  // namespace nustream::moments
