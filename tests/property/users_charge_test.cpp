// The charge over several epochs against every way in which a user may spread its participations, or its mass, over
// them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "nustream/privacy/zcdp.h"
#include "nustream/users/charge.h"
#include "nustream/users/sensitivity.h"

namespace nustream::users {
namespace {

/// The largest cost of any counts j_1, j_2, … that the gates let through: in epoch e a record of a user counts while
/// the user's count is below k_e.
double every_spread(const std::vector<Epoch>& epochs) {
  double most = 0;
  const std::function<void(std::size_t, std::size_t, double)> go = [&](std::size_t e, std::size_t count,
                                                                       double cost) {
    if (e == epochs.size()) {
      most = std::max(most, cost);
      return;
    }
    for (std::size_t j = 0; j < epochs[e].by_count.size(); ++j) {
      if (j > 0 && count + j > epochs[e].by_count.size() - 1) break;
      go(e + 1, count + j, cost + epochs[e].by_count[j].value());
    }
  };
  go(0, 0, 0);
  return most;
}

/// The same for masses, in steps of 0.25.
double every_mass(const std::vector<Epoch>& epochs) {
  double most = 0;
  const std::function<void(std::size_t, double, double)> go = [&](std::size_t e, double used, double cost) {
    if (e == epochs.size()) {
      most = std::max(most, cost);
      return;
    }
    const double limit = epochs[e].mass->value();
    for (double m = 0; m == 0 || used + m <= limit; m += .25) {
      go(e + 1, used + m, cost + m / limit * (m / limit) * epochs[e].of_mass.value());
    }
  };
  go(0, 0, 0);
  return most;
}

std::vector<Rho> rising(std::mt19937_64& random, std::size_t times) {
  std::vector<Rho> rho{Rho{0}};
  for (std::size_t j = 0; j < times; ++j) {
    rho.push_back(Rho{rho.back().value() + static_cast<double>(random() % 100) / 100});
  }
  return rho;
}

TEST(UserCharge, OfCountsIsThatOfTheWorstSpread) {
  std::mt19937_64 random(9);
  for (int trial = 0; trial < 400; ++trial) {
    std::vector<Epoch> epochs(1 + random() % 4);
    for (Epoch& epoch : epochs) epoch.by_count = rising(random, 1 + random() % 6);
    const double exact = every_spread(epochs);
    EXPECT_GE(charged(epochs).value(), exact);
    EXPECT_LE(charged(epochs).value(), exact * (1 + 1e-12) + 1e-300);
  }
}

TEST(UserCharge, OfMassIsThatOfTheWorstSpread) {
  std::mt19937_64 random(10);
  for (int trial = 0; trial < 400; ++trial) {
    std::vector<Epoch> epochs(1 + random() % 4);
    for (Epoch& epoch : epochs) {
      epoch.mass = Mass{.25 * static_cast<double>(1 + random() % 8)};
      epoch.of_mass = Rho{static_cast<double>(random() % 100) / 100};
    }
    const double exact = every_mass(epochs);
    EXPECT_GE(charged(epochs).value(), exact);
    EXPECT_LE(charged(epochs).value(), exact * (1 + 1e-12) + 1e-300);
  }
}

std::vector<Mechanism> independent_noise(double sigma) {
  return {{noise::Correlation{noise::Independent{}}, NoiseMultiplier{sigma}}};
}

// Endless epochs of one setting cost together what one of them costs: the limit belongs to the user, not to the
// epoch.
TEST(UserCharge, OfEqualEndlessEpochsIsThatOfOne) {
  const std::vector<Mechanism> mechanisms{
      {noise::Correlation{noise::Rational::nu_ftrl(Damping{.01})}, NoiseMultiplier{3}}};
  for (const Limits& limits : {Limits{privacy::Participation{5, 3}, {}}, Limits{{}, Mass{2.5}},
                               Limits{privacy::Participation{5, 3}, Mass{2.5}}}) {
    const Epoch first = epoch_of(mechanisms, limits, {}, false);
    const Epoch next = epoch_of(mechanisms, limits, {}, true);
    const double one = charged(std::vector{first}).value();
    EXPECT_NEAR(one, privacy::rho(sensitivity_limit(mechanisms[0].correlation, limits), NoiseMultiplier{3}).value(),
                1e-12 * one);
    EXPECT_NEAR(charged(std::vector{first, next, next}).value(), one, 1e-12 * one);
    EXPECT_NEAR(charged(std::vector{first, first}).value(), 2 * one, 1e-12 * one);
  }
}

// An epoch that was short leaves room for participations in the next one: the charge is then the ρ of neither epoch.
TEST(UserCharge, IsNotTheMaximumOverEpochs) {
  const Limits limits{privacy::Participation{4, 1}, {}};
  const Epoch first = epoch_of(independent_noise(1), limits, StepCount{2}, false);
  const Epoch second = epoch_of(independent_noise(1), limits, StepCount{2}, true);
  EXPECT_NEAR(charged(std::vector{first}).value(), 1, 1e-12);
  EXPECT_NEAR(charged(std::vector{first, second}).value(), 2, 1e-12);
}

// A smaller k in a later epoch takes back nothing of what was spent under the larger k.
TEST(UserCharge, OfASmallerLimitLaterKeepsWhatWasSpent) {
  const Epoch many = epoch_of(independent_noise(1), {privacy::Participation{10, 1}, {}}, {}, false);
  const Epoch few = epoch_of(independent_noise(.1), {privacy::Participation{1, 1}, {}}, {}, true);
  EXPECT_NEAR(charged(std::vector{many, few}).value(), std::max(5.0, 50.0), 1e-9);
  const Epoch quiet = epoch_of(independent_noise(10), {privacy::Participation{1, 1}, {}}, {}, true);
  EXPECT_NEAR(charged(std::vector{many, quiet}).value(), 5, 1e-9);
}

TEST(UserCharge, OfStagesIsTheirSum) {
  std::vector<Mechanism> two = independent_noise(1);
  two.push_back(two[0]);
  const Limits limits{privacy::Participation{3, 1}, Mass{100}};
  EXPECT_NEAR(charged(std::vector{epoch_of(two, limits, {}, false)}).value(), 3, 1e-12);
}

TEST(UserCharge, OfLimitsThatHaveNothingInCommonIsTheSum) {
  const Epoch counted = epoch_of(independent_noise(1), {privacy::Participation{2, 1}, {}}, {}, false);
  const Epoch massed = epoch_of(independent_noise(1), {{}, Mass{3}}, {}, true);
  EXPECT_NEAR(charged(std::vector{counted, massed}).value(), 1 + 4.5, 1e-12);
}

TEST(UserCharge, OfCountsTooLargeToSpreadIsTheSum) {
  const Limits limits{privacy::Participation{spread_times_max + 1, 1}, {}};
  const Epoch epoch = epoch_of(independent_noise(100), limits, {}, true);
  const double one = charged(std::vector{epoch}).value();
  EXPECT_NEAR(one, (spread_times_max + 1) / 2e4, 1e-9);
  EXPECT_NEAR(charged(std::vector{epoch, epoch}).value(), 2 * one, 1e-12);
}

}  // namespace
}  // namespace nustream::users
