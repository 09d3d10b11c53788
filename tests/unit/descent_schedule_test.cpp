#include "nustream/descent/schedule.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <vector>

namespace nustream::descent {
namespace {

double at(const Schedule& schedule, std::uint64_t step) {
  return schedule.at(StepIndex{step});
}

TEST(Schedule, ConstantStays) {
  const Schedule schedule{Constant{StepSize{0.25}}};
  EXPECT_EQ(at(schedule, 0), 0.25);
  EXPECT_EQ(at(schedule, std::numeric_limits<std::uint64_t>::max()), 0.25);
}

TEST(Schedule, InverseSqrtHalvesAfterThreeKnees) {
  const Schedule schedule{InverseSqrt{StepSize{0.4}, 100}};
  EXPECT_EQ(at(schedule, 0), 0.4);
  EXPECT_DOUBLE_EQ(at(schedule, 300), 0.2);
}

TEST(Schedule, InverseWithKneeOneIsTheRunningMeansGain) {
  const Schedule schedule{Inverse{StepSize{1}, 1}};
  EXPECT_EQ(at(schedule, 0), 1.0);
  EXPECT_DOUBLE_EQ(at(schedule, 9), 0.1);
}

TEST(Schedule, WarmUpIsPositiveFromItsFirstStepAndFullAtItsLast) {
  const Schedule schedule{WarmUp{StepSize{0.8}, 4}};
  EXPECT_DOUBLE_EQ(at(schedule, 0), 0.2);
  EXPECT_DOUBLE_EQ(at(schedule, 2), 0.6);
  EXPECT_EQ(at(schedule, 3), 0.8);
  EXPECT_EQ(at(schedule, 4), 0.8);
  EXPECT_EQ(at(schedule, std::numeric_limits<std::uint64_t>::max()), 0.8);
}

TEST(Schedule, PiecewiseChangesAtItsSteps) {
  const Schedule schedule{Piecewise{{{0, StepSize{1}}, {10, StepSize{0.5}}, {11, StepSize{0.1}}}}};
  EXPECT_EQ(at(schedule, 0), 1.0);
  EXPECT_EQ(at(schedule, 9), 1.0);
  EXPECT_EQ(at(schedule, 10), 0.5);
  EXPECT_EQ(at(schedule, 11), 0.1);
  EXPECT_EQ(at(schedule, 1'000'000), 0.1);
}

Schedule cooled(const Schedule& of, double share, double floor, std::uint64_t steps) {
  return Schedule{Cooldown{std::make_shared<const Schedule>(of), share, floor, StepCount{steps}}};
}

TEST(Schedule, CooldownComesDownLinearlyOverItsShare) {
  const Schedule schedule = cooled(Schedule{Constant{StepSize{0.4}}}, 0.25, 0.05, 20);
  EXPECT_EQ(at(schedule, 0), 0.4);
  EXPECT_EQ(at(schedule, 14), 0.4);
  EXPECT_EQ(at(schedule, 15), 0.4);  // at T − w the cooldown has taken nothing off yet
  EXPECT_DOUBLE_EQ(at(schedule, 16), 0.4 * (0.05 + 0.95 * 0.8));
  EXPECT_DOUBLE_EQ(at(schedule, 19), 0.4 * (0.05 + 0.95 * 0.2));
  EXPECT_DOUBLE_EQ(at(schedule, 20), 0.4 * 0.05);
  EXPECT_DOUBLE_EQ(at(schedule.over(StepCount{40}), 36), 0.4 * (0.05 + 0.95 * 0.4));
  EXPECT_DOUBLE_EQ(at(cooled(Schedule{Inverse{StepSize{1}, 1}}, 1, 0, 10), 4), 0.2 * 0.6);
  // A share that is less than one step counts as one step.
  EXPECT_EQ(at(cooled(Schedule{Constant{StepSize{1}}}, 1e-9, 0, 3), 2), 1);
}

TEST(Schedule, RefusesWhatIsNoCooldown) {
  const Schedule of{Constant{StepSize{1}}};
  EXPECT_THROW(cooled(of, 0, 0, 10), InvalidParameter);
  EXPECT_THROW(cooled(of, 1.1, 0, 10), InvalidParameter);
  EXPECT_THROW(cooled(of, 0.5, 1, 10), InvalidParameter);
  EXPECT_THROW(cooled(of, 0.5, -0.1, 10), InvalidParameter);
  EXPECT_THROW(cooled(of, 0.5, 0, 0), InvalidParameter);
  EXPECT_THROW(cooled(cooled(of, 0.5, 0, 10), 0.5, 0, 10), InvalidParameter);
}

TEST(Schedule, RefusesWhatIsNoSchedule) {
  const StepSize size{1};
  EXPECT_THROW((Schedule{InverseSqrt{size, 0}}), InvalidParameter);
  EXPECT_THROW((Schedule{Inverse{size, -1}}), InvalidParameter);
  EXPECT_THROW((Schedule{Inverse{size, std::numeric_limits<double>::infinity()}}), InvalidParameter);
  EXPECT_THROW((Schedule{WarmUp{size, 0}}), InvalidParameter);
  EXPECT_THROW((Schedule{Piecewise{}}), InvalidParameter);
  EXPECT_THROW((Schedule{Piecewise{{{1, size}}}}), InvalidParameter);
  EXPECT_THROW((Schedule{Piecewise{{{0, size}, {5, size}, {5, size}}}}), InvalidParameter);
}

TEST(Schedule, GivesManyStepsWhatItGivesEach) {
  const std::vector<Schedule> all{Schedule{Constant{StepSize{0.25}}}, Schedule{InverseSqrt{StepSize{0.4}, 100}},
                                  Schedule{Inverse{StepSize{1}, 7}}, Schedule{WarmUp{StepSize{0.8}, 40}},
                                  Schedule{Piecewise{{{0, StepSize{1}}, {30, StepSize{0.5}}, {61, StepSize{0.1}}}}}};
  for (const Schedule& schedule : all) {
    std::vector<double> sizes(64);
    schedule.sizes(StepIndex{17}, sizes);
    for (std::size_t i = 0; i < sizes.size(); ++i) EXPECT_EQ(sizes[i], at(schedule, 17 + i));
  }
}

}  // namespace
}  // namespace nustream::descent
