// Users move to other lanes after a past that was not a plain one: limits have changed, a state is lost, or a change
// was interrupted. What they spent is charged, and nobody counts in two lanes at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "lane_change_world.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

// One of three may count in one epoch and four in the next. No line has both as its entries, but there is a charge.
TEST(UsersInOtherLanes, AreChargedForEpochsOfOtherLimits) {
  const AttachUsersWorld world(1, "@key");
  world.write_keyed(AttachUsersWorld::values_of_users(600));
  ASSERT_EQ(world.run(until_end).code, 0);
  const Arguments of_four = until_end + Arguments{"--set", "users.participations=4"};
  world.write_keyed(AttachUsersWorld::values_of_users(600, 2));
  const CommandResult second = world.run(of_four + anew);
  ASSERT_EQ(second.code, 0) << second.err;
  const double before = charged_by(world, 0);
  EXPECT_GT(before, .3);
  world.add_partitions_to_all(2);
  world.write_among(AttachUsersWorld::values_of_users(300, 3), 2);
  const CommandResult moved = world.run(of_four + anew);
  ASSERT_EQ(moved.code, 0) << moved.err;
  for (const int lane : {0, 1}) {
    EXPECT_GE(charged_by(world, lane), before * (1 - 1e-12)) << lane;
    EXPECT_THAT(ledger_of(world, lane).back(), HasSubstr(R"("counts":true)"));
  }
  // Each epoch's ρ is .5 over endless steps. A user who spreads over both is charged no more than both.
  EXPECT_LE(charged_by(world, 1), 1 + 1e-9);
}

TEST(UsersInOtherLanes, AreNotChargedTwiceForEpochsThatCarriedOver) {
  const AttachUsersWorld world(1, "@key");
  world.write_keyed(AttachUsersWorld::values_of_users(600));
  ASSERT_EQ(world.run(until_end).code, 0);
  world.write_keyed(AttachUsersWorld::values_of_users(600, 2));
  ASSERT_EQ(world.run(until_end + another_setting + anew).code, 0);
  world.write_keyed(AttachUsersWorld::values_of_users(600, 3));
  ASSERT_EQ(world.run(until_end + anew).code, 0);
  world.add_partitions_to_all(2);
  world.write_among(AttachUsersWorld::values_of_users(300, 4), 2);
  const CommandResult moved = world.run(until_end + anew);
  ASSERT_EQ(moved.code, 0) << moved.err;
  for (const int lane : {0, 1}) EXPECT_LE(charged_by(world, lane), .5 * (1 + 1e-9)) << lane;
  // It stays so when the state is opened again.
  world.write_among(AttachUsersWorld::values_of_users(300, 5), 2);
  ASSERT_EQ(world.run(until_end).code, 0);
  for (const int lane : {0, 1}) EXPECT_LE(charged_by(world, lane), .5 * (1 + 1e-9)) << lane;
}

class InterruptedChange : public TwoLanes {};

TEST_F(InterruptedChange, BehindALostStateIsChargedByItsLedger) {
  lose(".state", 1);
  world_.add_partitions_to_all(3);
  world_.write_among(AttachUsersWorld::values_of_users(600, 2), 3);
  expect_ends(world_, one_each_ + anew + accepted, {0, 1, 2}, 20);
  expect_all_charged({0, 1, 2});
}

TEST_F(InterruptedChange, IsNotTakenBackByTheOldDivision) {
  interrupt_change(world_, one_each_ + other_partitioner, 2);  // both are closed, and none has begun
  const std::vector<std::string> before[]{world_.releases_uncommitted(0), world_.releases_uncommitted(1)};
  world_.write_keyed(AttachUsersWorld::values_of_users(600, 2));
  const CommandResult back = world_.run(one_each_ + another_setting + anew);
  EXPECT_EQ(back.code, 65) << back.err;
  EXPECT_THAT(back.err, HasSubstr("closed"));
  for (const int lane : {0, 1}) EXPECT_TRUE(world_.releases_uncommitted(lane) == before[lane]) << lane;
  const CommandResult on = world_.run(one_each_ + other_partitioner + anew);
  EXPECT_EQ(on.code, 0) << on.err;
}

TEST_F(InterruptedChange, ThatOneLaneBeganIsChargedWhereTheOthersNeverDid) {
  interrupt_change(world_, one_each_ + other_partitioner, 3);
  if (last_epoch(world_, 0) + last_epoch(world_, 1) != 1) GTEST_SKIP() << "not one of them had begun by then";
  world_.write_keyed(AttachUsersWorld::values_of_users(600, 2));
  expect_ends(world_, one_each_ + another_setting + anew, {0, 1}, 20);
  expect_all_charged({0, 1});
}

/// Changes from two lanes to three, interrupted after `commits` commits, and then to four.
void change_twice(const AttachUsersWorld& world, const Arguments& arguments, int commits) {
  world.add_partitions_to_all(3);
  world.write_among(AttachUsersWorld::values_of_users(300, 2), 3);
  interrupt_change(world, arguments, commits);
  world.add_partitions_to_all(4);
  world.write_among(AttachUsersWorld::values_of_users(900, 3), 4);
  expect_ends(world, arguments + anew, {0, 1, 2, 3}, 20);
}

TEST_F(InterruptedChange, ThatAnotherChangeFollowsIsChargedInAllLanes) {
  change_twice(world_, one_each_, 3);  // one lane of three has begun
  expect_all_charged({0, 1, 2, 3});
}

TEST_F(InterruptedChange, ThatNobodyBeganIsPassedOver) {
  change_twice(world_, one_each_, 2);
  expect_all_charged({0, 1, 2, 3});
}

}  // namespace
}  // namespace nustream::tests
