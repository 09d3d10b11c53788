// The sensitivity for a unit with several records, against an exhaustive search over where its records may be.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "nustream/moments/budget.h"
#include "nustream/moments/participation.h"
#include "nustream/privacy/sensitivity.h"
#include "privacy_brute_force.h"

namespace nustream::moments {
namespace {

/// The maximum, over the places of the records, of Σ_ij |⟨C_i, C_j⟩|, where i and j run over the records' steps.
double exhaustive(const noise::Correlation& correlation, std::uint64_t steps, const BatchParticipation& unit) {
  const auto products = privacy::brute_force::encoder_products(correlation, steps);
  long double largest = 0;
  const privacy::Participation records{unit.times, unit.separation};
  privacy::brute_force::for_each_participation(steps * unit.batch, records,
                                               [&](const std::vector<std::size_t>& taken) {
                                                 long double sum = 0;
                                                 for (const std::size_t i : taken) {
                                                   for (const std::size_t j : taken)
                                                     sum += std::abs(products[i / unit.batch][j / unit.batch]);
                                                 }
                                                 largest = std::max(largest, sum);
                                               });
  return static_cast<double>(std::sqrt(largest));
}

noise::Correlation some_correlation(std::uint64_t choice, std::uint64_t steps) {
  switch (choice % 4) {
    case 0:
      return noise::Correlation{noise::NuFtrl{Damping{0}, StepCount{steps}}};
    case 1:
      return noise::Correlation{noise::Rational::nu_ftrl(Damping{.05})};
    case 2:
      return noise::Correlation{noise::Independent{}};
    default:
      return noise::Correlation{noise::DampedAntiPgd{Damping{.2}}};
  }
}

// Every unit of at most 4 records, with a separation of at most 9, in batches of at most 4, over at most 6 steps,
// under four correlations.
TEST(BatchParticipation, IsNeverLessThanAnExhaustiveSearchFindsNorMuchMore) {
  double largest = 1;
  for (std::uint64_t steps = 2; steps <= 6; ++steps) {
    for (std::uint64_t choice = 0; choice < 4; ++choice) {
      const noise::Correlation correlation = some_correlation(choice, steps);
      for (std::uint64_t code = 0; code < std::uint64_t{4} * 9 * 4; ++code) {
        const BatchParticipation unit{1 + code % 4, 1 + code / 4 % 9, 1 + code / 36};
        const double found = sensitivity(correlation, StepCount{steps}, unit).value();
        const double exact = exhaustive(correlation, steps, unit);
        EXPECT_GE(found, exact * (1 - 1e-12)) << unit.times << ' ' << unit.separation << ' ' << unit.batch;
        largest = std::max(largest, found / exact);
      }
    }
  }
  RecordProperty("largest", std::to_string(largest));
  EXPECT_LE(largest, 1.33) << "what the header says";
  EXPECT_GE(largest, 1.32) << "the header may say less";
}

// Records that are b apart may still be in the same step, or in neighbouring steps.
TEST(BatchParticipation, ASeparationInRecordsIsNoneInSteps) {
  const noise::Correlation correlation{noise::NuFtrl{Damping{0}, StepCount{8}}};
  const double exact = exhaustive(correlation, 8, {3, 2, 4});
  const double taken_for_steps = privacy::sensitivity(correlation, StepCount{8}, {3, 2}).value();
  EXPECT_GT(exact * exact, 1.3 * taken_for_steps * taken_for_steps);
}

TEST(BatchParticipation, OneRecordAStepIsAParticipationInSteps) {
  const noise::Correlation correlation{noise::NuFtrl{Damping{0}, StepCount{50}}};
  EXPECT_EQ(sensitivity(correlation, StepCount{50}, {4, 7, 1}),
            privacy::sensitivity(correlation, StepCount{50}, {4, 7}));
  EXPECT_EQ(sensitivity(correlation, StepCount{50}, {4, 75, 10}),
            privacy::sensitivity(correlation, StepCount{50}, {4, 7}));
}

TEST(SumsSpend, GrowsWithTheStepsToTheLimitOfItsCalibration) {
  Design design;
  design.shape.inputs = 3;
  for (const auto adjacency : {privacy::Adjacency::zero_out, privacy::Adjacency::replace_one}) {
    for (const std::uint64_t times : {1U, 3U, 40U}) {
      design.neighbours.adjacency = adjacency;
      const Mechanism mechanism{design, {times, 5, 8}, noise::Correlation{noise::Rational::nu_ftrl(Damping{.01})}};
      const Spend spend(mechanism, calibrate(mechanism, {2, 1}, Rho{.1}));
      double before = 0;
      EXPECT_EQ(spend.after(StepCount{0}).value(), 0);
      for (const std::uint64_t steps : {1U, 2U, 10U, 1000U, 100000U}) {
        const double after = spend.after(StepCount{steps}).value();
        EXPECT_GE(after, before);
        before = after;
      }
      EXPECT_LE(before, spend.limit().value() * (1 + 1e-12));
      EXPECT_LE(spend.limit().value(), .1);
      EXPECT_GE(spend.limit().value(), .1 * (1 - 1e-12));
      if (times == 1) {
        EXPECT_EQ(spend.of_age(StepCount{7}), spend.after(StepCount{7}));
      } else {
        EXPECT_THROW(static_cast<void>(spend.of_age(StepCount{7})), Unsupported);
      }
    }
  }
}

}  // namespace
}  // namespace nustream::moments
