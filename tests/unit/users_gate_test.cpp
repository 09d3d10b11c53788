// The two limits of a user: who is let in, and what is charged.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

#include "nustream/base/error.h"
#include "nustream/users/gate.h"

namespace nustream::users {
namespace {

Limits counted(std::uint64_t times, std::uint64_t separation) {
  return {privacy::Participation{times, separation}, std::nullopt};
}
Limits massed(double mass) {
  return {std::nullopt, Mass{mass}};
}

TEST(UserLimits, AskForAtLeastOneAndForACountThatFits) {
  EXPECT_THROW(Limits({}, {}), InvalidParameter);
  EXPECT_NO_THROW(counted(times_max, 1));
  EXPECT_THROW(counted(times_max + 1, 1), InvalidParameter);
  EXPECT_THROW(massed(0), InvalidParameter);
  EXPECT_THROW(massed(std::numeric_limits<double>::infinity()), InvalidParameter);
}

TEST(UserGate, LetsAUserInKTimesAtLeastBStepsApart) {
  const Limits limits = counted(3, 5);
  Standing user;
  std::vector<std::uint64_t> taken;
  for (std::uint64_t step = 2; step < 100; ++step) {
    if (!may_contribute(limits, user, StepIndex{step})) continue;
    user = charge(limits, user, StepIndex{step}, 1).after;
    taken.push_back(step);
  }
  EXPECT_EQ(taken, (std::vector<std::uint64_t>{2, 7, 12}));
}

TEST(UserGate, CountsAContributionOfNoLength) {
  const Limits limits = counted(1, 1);
  const Standing after = charge(limits, {}, StepIndex{0}, 0).after;
  EXPECT_EQ(after.count, 1U);
  EXPECT_FALSE(may_contribute(limits, after, StepIndex{1}));
}

TEST(UserGate, ScalesTheContributionThatWouldCrossTheMass) {
  const Limits limits = massed(2.5);
  Standing user;
  double sum = 0;
  for (std::uint64_t step = 0; step < 2; ++step) {
    const Charge charged = charge(limits, user, StepIndex{step}, 1);
    EXPECT_EQ(charged.allowed, 1);
    sum += charged.allowed;
    user = charged.after;
  }
  const Charge last = charge(limits, user, StepIndex{2}, 1);
  EXPECT_NEAR(last.allowed, .5, 1e-8);
  EXPECT_LE(sum + last.allowed, 2.5);
  EXPECT_FALSE(may_contribute(limits, last.after, StepIndex{3}));
}

// Small contributions are charged whole units, so that many of them cannot slip through below a rounding.
TEST(UserGate, ChargesWhatIsTooSmallForAUnitAWholeOne) {
  const Limits limits = massed(1);
  const Standing once = charge(limits, {}, StepIndex{0}, 1e-300).after;
  EXPECT_EQ(once.mass, 1U);
  EXPECT_EQ(charge(limits, {}, StepIndex{0}, 0).after.mass, 0U);
  // Norms of random lengths: what is let in is never more than W in all.
  std::uint64_t state = 7;
  for (const double mass : {.3, 1.0, 3.7, 1e3}) {
    Standing user;
    long double sum = 0;
    for (std::uint64_t step = 0; step < 5000; ++step) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      const double norm = static_cast<double>(state >> 11) * 0x1p-53;
      if (!may_contribute(massed(mass), user, StepIndex{step})) break;
      const Charge charged = charge(massed(mass), user, StepIndex{step}, norm);
      EXPECT_LE(charged.allowed, norm);
      EXPECT_LE(static_cast<long double>(charged.after.mass - user.mass) / mass_units * mass + 1e-18L,
                charged.allowed + mass * 0x1p-30L);
      sum += charged.allowed;
      EXPECT_LE(sum, static_cast<long double>(mass) * charged.after.mass / mass_units);
      user = charged.after;
    }
    EXPECT_LE(sum, mass);
    if (mass < 1e3) {
      EXPECT_GE(sum, mass * (1 - 1e-5));
    }
  }
}

TEST(UserGate, HoldsBothLimitsWhereThereAreBoth) {
  const Limits limits{privacy::Participation{2, 3}, Mass{1.2}};
  Standing user = charge(limits, {}, StepIndex{0}, 1).after;
  EXPECT_FALSE(may_contribute(limits, user, StepIndex{2}));
  EXPECT_TRUE(may_contribute(limits, user, StepIndex{3}));
  EXPECT_FALSE(may_contribute(limits, charge(limits, user, StepIndex{3}, 1).after, StepIndex{9}));
  user.count = 1;
  user.mass = mass_units;
  EXPECT_FALSE(may_contribute(limits, user, StepIndex{9}));
}

TEST(UserGate, LetsNobodyInWhoWasClosed) {
  for (const Limits& limits : {counted(times_max, 1), massed(1e6)}) {
    EXPECT_FALSE(may_contribute(limits, closed({}), StepIndex{0}));
    EXPECT_FALSE(may_contribute(limits, carried_over(closed({})), StepIndex{0}));
    EXPECT_FALSE(may_contribute(limits, carried_over(closed({}), Mass{1}, Mass{1e9}), StepIndex{0}));
  }
}

TEST(UserGate, CarriesCountAndMassOverToAnotherEpochButNoStep) {
  const Limits limits{privacy::Participation{2, 1000}, Mass{4}};
  const Standing before = charge(limits, {}, StepIndex{900}, 1).after;
  const Standing after = carried_over(before);
  EXPECT_EQ(after.count, 1U);
  EXPECT_EQ(after.mass, before.mass);
  EXPECT_TRUE(may_contribute(limits, after, StepIndex{0}));
  EXPECT_FALSE(may_contribute(limits, charge(limits, after, StepIndex{0}, 1).after, StepIndex{5000}));
  // Half of W is a quarter of 2W, and all of W/2, under which nothing is left.
  const Standing half{901, 1, mass_units / 2};
  EXPECT_NEAR(carried_over(half, Mass{4}, Mass{8}).mass, mass_units / 4, 1);
  EXPECT_GE(carried_over(half, Mass{4}, Mass{8}).mass, mass_units / 4);
  EXPECT_EQ(carried_over(half, Mass{4}, Mass{2}).mass, mass_units);
  EXPECT_EQ(carried_over(half, Mass{4}, Mass{4}).mass, half.mass);
}

TEST(UserGateDeathTest, EndsTheProcessWhereACallerPassesItBy) {
  const Limits limits = counted(1, 1);
  const Standing full = charge(limits, {}, StepIndex{0}, 1).after;
  EXPECT_DEATH(static_cast<void>(charge(limits, full, StepIndex{1}, 1)), "passed the gate");
  EXPECT_DEATH(static_cast<void>(charge(limits, {}, StepIndex{0}, 1.5)), "clipped before");
  EXPECT_DEATH(static_cast<void>(may_contribute(limits, full, StepIndex{0})), "only rise");
}

}  // namespace
}  // namespace nustream::users
