// Lanes of an attached stream behind a measuring by user, over the simulated broker: they begin with its key, and are
// charged beside it, whatever is killed and however users are divided later.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "measured_world.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

/// What the lane's users may spend in all of its epochs, where they go on for ever.
double total_for_ever(const attach::OpenedLane& lane) {
  return lane.state.ledger.total(StepCount{1'000'000}, Position{1'000'000}).value();
}

// The epoch of steps has the users' key and begins with no counts: a user who was measured takes part as often as any
// other, and the ledger adds both. The other lane has the same key and only the rest of ρ.
TEST(MeasuredLanes, BeginBehindItWithItsKeyAndTheSumOfBothIsCharged) {
  for (const char* limits : {"participations = 3\nseparation = 2\n", "participations = 1\n", "mass = 2.0\n",
                             "participations = 3\nmass = 2.0\n"}) {
    for (const bool asks_for_new_epoch : {false, true}) {
      SCOPED_TRACE(fmt::format("{}--new-epoch {}", limits, asks_for_new_epoch));
      MeasuredWorld world({.user = "who", .limits = limits, .private_noise = true});
      world.write(some_records(650));
      world.settle(world.measure());
      const noise::KeyBytes key = world.state().record.users.value().key;
      const double rest = MeasuredWorld::rho - MeasuredWorld::rho_ranges;
      const attach::OpenedLane zero = world.open(lane_zero, {.new_epoch = asks_for_new_epoch});
      EXPECT_EQ(zero.state.ledger.identity().epoch, EpochId{1});
      EXPECT_EQ(zero.state.ledger.identity().start, Position{0}) << "over the measured records, too";
      EXPECT_FALSE(zero.state.ledger.identity().carries_over);
      EXPECT_LE(total_for_ever(zero), MeasuredWorld::rho);
      EXPECT_GE(total_for_ever(zero), MeasuredWorld::rho * (1 - 1e-6));
      EXPECT_EQ(world.state().record.users.value().key, key);
      const attach::OpenedLane one = world.open(lane_one);
      EXPECT_EQ(one.state.ledger.identity().epoch, EpochId{0});
      EXPECT_NEAR(total_for_ever(one), rest, rest * 1e-6);
      EXPECT_EQ(world.state(1).record.users.value().key, key);
    }
  }
}

// The other lane may begin first: the measuring's state has the key and says how users are divided.
TEST(MeasuredLanes, NeedNotWaitForTheFirstStepsOfLaneZero) {
  MeasuredWorld world({.private_noise = true});
  world.write(some_records(600));
  world.settle(world.measure());
  static_cast<void>(world.open(lane_one));
  EXPECT_EQ(world.state(1).record.users.value().key, world.state(0).record.users.value().key);
  EXPECT_EQ(world.open(lane_zero).state.ledger.identity().epoch, EpochId{1});
}

TEST(MeasuredLanes, BeginOnceWhereverTheyAreKilled) {
  std::uint64_t crashes = 0;
  for (std::uint64_t calls = 1; crashes + 2 >= calls; ++calls) {
    SCOPED_TRACE(calls);
    MeasuredWorld world({.private_noise = true}, calls);
    world.write(some_records(600));
    world.settle(world.measure());
    const noise::KeyBytes key = world.state().record.users.value().key;
    world.begin_process(calls);
    try {
      static_cast<void>(world.open(lane_zero));
    } catch (const SimulatedCrash&) {
      ++crashes;
    }
    world.begin_process();
    const attach::OpenedLane opened = world.open(lane_zero);
    EXPECT_EQ(opened.state.ledger.identity().epoch, EpochId{1});
    EXPECT_EQ(world.state().record.users.value().key, key);
    EXPECT_GE(total_for_ever(opened), MeasuredWorld::rho * (1 - 1e-6));
    EXPECT_LE(total_for_ever(opened), MeasuredWorld::rho);
  }
  EXPECT_GT(crashes, 10U);
}

// The state alone tells that it counted nobody. The settings need not say "private" any more: they may be the numbers
// of --write-config.
TEST(MeasuredLanes, AreChargedForItUnderTheNumbersThatItFoundToo) {
  for (const char* limits : {"participations = 3\nseparation = 2\n", "participations = 1\n", "mass = 2.0\n"}) {
    SCOPED_TRACE(limits);
    MeasuredWorld world({.user = "who", .limits = limits, .private_noise = true});
    world.write(some_records(650));
    world.settle(world.measure(), MeasuredWorld::Settled::by_numbers);
    const attach::OpenedLane zero = world.open(lane_zero, {.new_epoch = true});
    EXPECT_EQ(zero.state.ledger.identity().epoch, EpochId{1});
    EXPECT_FALSE(zero.state.ledger.identity().carries_over);
    EXPECT_GE(total_for_ever(zero), MeasuredWorld::rho * (1 - 1e-6));
  }
}

/// Opens all of `lanes` lanes in new epochs. A lane that has to wait for another is opened again.
std::vector<attach::OpenedLane> opened_anew(MeasuredWorld& world, std::uint32_t lanes) {
  std::vector<attach::OpenedLane> opened;
  for (int round = 0; round < 4 && opened.size() < lanes; ++round) {
    opened.clear();
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      try {
        opened.push_back(world.open(LaneId{lane}, {.new_epoch = true}));
      } catch (const attach::LaneHasToWait&) {
      }
    }
  }
  return opened;
}

// Users who were measured may be in any lane afterwards, and bring along what that cost.
TEST(MeasuredLanes, OfAnotherNumberAreChargedForItTooAndOnlyWhereThatIsAsked) {
  for (const auto how : {MeasuredWorld::Settled::measured, MeasuredWorld::Settled::by_numbers}) {
    SCOPED_TRACE(how == MeasuredWorld::Settled::measured ? "measured" : "by numbers");
    MeasuredWorld world({.private_noise = true});
    world.write(some_records(600));
    const std::string ranges = world.measure();
    world.settle(ranges);
    static_cast<void>(world.open(lane_one));
    world.repartition(3, ranges, how);
    world.begin_process();
    try {
      static_cast<void>(world.open(lane_zero));
      FAIL() << "users are divided otherwise";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), Exit::data);
      EXPECT_THAT(failure.what(), HasSubstr(how == MeasuredWorld::Settled::measured ? "--new-epoch" : "settings"));
    }
    const std::vector<attach::OpenedLane> opened = opened_anew(world, 3);
    ASSERT_EQ(opened.size(), 3U);
    for (const attach::OpenedLane& lane : opened) {
      EXPECT_GE(total_for_ever(lane), MeasuredWorld::rho * (1 - 1e-6)) << lane.state.id().value();
    }
  }
}

/// Copies the committed and other entries of a partition of one world to another one.
void copy_topic(MeasuredWorld& from, MeasuredWorld& to, const std::string& topic, std::int32_t lane) {
  from.broker.settle();
  for (const SimulatedEntry& entry : from.broker.log({topic, lane})) {
    if (!entry.value) continue;
    SimulatedEntry copy;
    copy.key = entry.key;
    copy.value = entry.value;
    to.broker.append({topic, lane}, std::move(copy));
  }
}

void expect_not_measured(MeasuredWorld& world) {
  try {
    static_cast<void>(world.measure());
    FAIL() << "nobody knows how users were divided";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), Exit::data);
    EXPECT_THAT(failure.what(), HasSubstr("it has begun, and lane 0"));
  }
  EXPECT_TRUE(world.committed("ledger").empty());
}

// With its state lane 0 lost the key under which the users of the other lane are known there.
TEST(MeasuredLanes, OfWhichOnlyAnotherHasBegunAreNotMeasured) {
  MeasuredWorld begun({});
  begun.write(some_records(600));
  begun.settle(begun.measure());
  static_cast<void>(begun.open(lane_one));
  MeasuredWorld world({});
  world.write(some_records(600));
  copy_topic(begun, world, "measured.state", 1);
  expect_not_measured(world);
}

// The same where the input was made anew with fewer partitions, so that the lane that has begun is none any more.
TEST(MeasuredLanes, OfWhichOneBeyondTheInputHasBegunAreNotMeasured) {
  MeasuredWorld begun({.partitions = 3});
  begun.write(some_records(900));
  begun.settle(begun.measure());
  static_cast<void>(begun.open(LaneId{2}));
  MeasuredWorld world({.partitions = 3});
  world.write(some_records(900));
  copy_topic(begun, world, "measured.ledger", 2);
  world.lanes_with_room = 2;
  expect_not_measured(world);
}

}  // namespace
}  // namespace nustream::tests
