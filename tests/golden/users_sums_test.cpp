// Sensitivity of a user against values that were computed elsewhere: exhaustive searches, and 40 digits of mpmath.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "nustream/users/sensitivity.h"

namespace nustream::users {
namespace {

noise::Correlation nu_ftrl(double nu, std::uint64_t steps) {
  return noise::Correlation{noise::NuFtrl{Damping{nu}, StepCount{steps}}};
}

struct ManyRecords {
  double nu;
  std::uint64_t steps, batch;
  double squared;                      ///< the largest ‖Σ C e‖² where all records of a unit add up
  std::vector<std::uint64_t> pattern;  ///< the records that reach it
};
// The largest ‖C e‖² of a unit with k records, in steps of m records, by exhaustive search.
const std::vector<ManyRecords> searched{{0, 6, 3, 6.49444580078125, {0, 1}},
                                        {0, 6, 3, 11.88720703125, {0, 2, 4}},
                                        {0, 6, 3, 9.791458129882812, {0, 4, 8}},
                                        {.1, 6, 4, 9.870008458648492, {0, 3, 6}},
                                        {0, 8, 2, 8.338355302810669, {0, 5, 10}}};

// Where records add up within a step, the unit needs their number as its mass.
TEST(UserSums, MassCoversRecordsThatAddUpInAStep) {
  for (const auto& [nu, steps, batch, squared, pattern] : searched) {
    const Limits mass{std::nullopt, Mass{static_cast<double>(pattern.size())}};
    const double found = sensitivity(nu_ftrl(nu, steps), StepCount{steps}, mass).value();
    EXPECT_GE(found * found, squared * (1 - 1e-12));
    const bool one_step = pattern.back() / batch == 0;
    if (one_step) {
      EXPECT_NEAR(found * found, squared, 1e-12 * squared);
    }
  }
}

// Where each record has a step of its own, the user contributes there as the unit of the search does.
TEST(UserSums, ParticipationCoversRecordsInStepsOfTheirOwn) {
  int compared = 0;
  for (const auto& [nu, steps, batch, squared, pattern] : searched) {
    std::uint64_t apart = steps;
    for (std::size_t i = 1; i < pattern.size(); ++i) {
      apart = std::min(apart, pattern[i] / batch - pattern[i - 1] / batch);
    }
    if (apart == 0) continue;
    ++compared;
    const Limits limits{privacy::Participation{pattern.size(), apart}, std::nullopt};
    const double found = sensitivity(nu_ftrl(nu, steps), StepCount{steps}, limits).value();
    EXPECT_GE(found * found, squared * (1 - 1e-12));
    EXPECT_LE(found * found, squared * 1.2);  // steps 0, 2, 5 against 0, 2, 4
  }
  EXPECT_EQ(compared, 2);
}

TEST(UserSums, MassIsWTimesTheLongestColumn) {
  const auto of = [](double nu, std::uint64_t steps, double mass) {
    return sensitivity(nu_ftrl(nu, steps), StepCount{steps}, {std::nullopt, Mass{mass}}).value();
  };
  EXPECT_NEAR(of(0, 398, 10), 17.2383955712486, 1e-11);
  EXPECT_NEAR(of(.01, 100000, 3), 4.3854195181305, 1e-11);
}

}  // namespace
}  // namespace nustream::users
