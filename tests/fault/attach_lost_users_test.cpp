// Something is lost of the users of a stream on a broker: their key, a lane's store, or a ledger. What they spent is
// charged in every lane that they may have come to, or nothing goes on. Whoever was closed stays closed, or is named
// as lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "lane_change_world.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;

class LostKey : public TwoLanes {
 protected:
  /// Expects the charge after a change to three lanes, each of which may have users from either of the two.
  void expect_charged_in_other_lanes() const {
    world_.add_partitions_to_all(3);
    world_.write_among(AttachUsersWorld::values_of_users(600, 2), 3);
    expect_ends(world_, one_each_ + anew, {0, 1, 2}, 20);
    expect_all_charged({0, 1, 2});
  }
  /// Removes the ledger lines of `lane` and keeps the others.
  void lose_ledger(int lane) const {
    const std::string topic = world_.name() + ".ledger";
    const std::vector<StoredRecord> kept = world_.committed(topic, 1 - lane);
    delete_topic(AttachUsersWorld::direct(), topic);
    create_topic(AttachUsersWorld::direct(), topic, 2, {{"retention.ms", "-1"}});
    write_records(AttachUsersWorld::direct(), topic, 1 - lane, kept);
  }
};

TEST_F(LostKey, ThatWasDestroyedIsChargedInAllLanes) {
  const CommandResult ended = edit_users(world_, "end", one_each_);
  ASSERT_EQ(ended.code, 0) << ended.err;
  expect_charged_in_other_lanes();
  // All lanes have one key again, so that counts go along with the next change.
  world_.add_partitions_to_all(4);
  world_.write_among(AttachUsersWorld::values_of_users(800, 3), 4);
  expect_ends(world_, one_each_ + anew, {0, 1, 2, 3}, 20);
  for (const int lane : {0, 1, 2, 3}) {
    EXPECT_THAT(ledger_of(world_, lane).back(), HasSubstr(R"("counts":true)")) << lane;
    EXPECT_GT(charged_by(world_, lane), 1.5 * one_) << lane;
  }
}

TEST_F(LostKey, WithTheStatesOfAllLanesIsChargedInAllLanes) {
  for (const int lane : {0, 1}) lose(".state", lane);
  expect_charged_in_other_lanes();
}

// Another partitioner alone moves users as well.
TEST_F(LostKey, BehindWhichAnotherPartitionerFollowsIsChargedInAllLanes) {
  const CommandResult ended = edit_users(world_, "end", one_each_);
  ASSERT_EQ(ended.code, 0) << ended.err;
  const double before[]{charged_by(world_, 0), charged_by(world_, 1)};
  world_.write_keyed(AttachUsersWorld::values_of_users(600, 2));
  expect_ends(world_, one_each_ + other_partitioner + anew, {0, 1}, 20);
  for (const int lane : {0, 1}) {
    EXPECT_GT(charged_by(world_, lane), std::max(before[0], before[1]) + .3) << lane;
    EXPECT_THAT(ledger_of(world_, lane), Contains(HasSubstr(R"("moved":)"))) << lane;
  }
}

TEST_F(LostKey, IsRefusedWhereALaneHasNoLedgerEither) {
  for (const int lane : {0, 1}) lose(".state", lane);
  lose_ledger(1);
  const std::vector<std::string> before = world_.releases_uncommitted(0);
  const CommandResult refused = world_.run(one_each_ + anew);
  EXPECT_EQ(refused.code, 65) << refused.err;
  EXPECT_THAT(refused.err, AllOf(HasSubstr("state and ledger are lost"), HasSubstr("restore the ledger topic")));
  EXPECT_TRUE(world_.releases_uncommitted(0) == before) << "something was published";
}

using LostStateAndLedger = LostKey;

TEST_F(LostStateAndLedger, OfOneLaneIsRefused) {
  lose(".state", 1);
  lose_ledger(1);
  const std::vector<std::string> before = world_.releases_uncommitted(1);
  world_.write_keyed(AttachUsersWorld::values_of_users(300, 2));
  const CommandResult refused = world_.run(one_each_ + anew);
  EXPECT_EQ(refused.code, 65) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("restore the ledger topic"));
  EXPECT_TRUE(world_.releases_uncommitted(1) == before) << "something was published";
}

/// Limits that nobody reaches by taking part: whoever is at a limit was closed.
const Arguments loose = until_end + Arguments{"--set", "users.participations=1000", "--set", "users.separation=1"};

class ClosedUsers : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.write_keyed(AttachUsersWorld::values_of_users(600));
    const CommandResult first = world_.run(loose);
    ASSERT_EQ(first.code, 0) << first.err;
    close_everybody(world_, loose);
  }
  void lose_store(int lane) const {
    const std::vector<StoredRecord> kept = world_.committed(world_.users_topic(), 1 - lane);
    world_.lose_users(2);
    write_records(AttachUsersWorld::direct(), world_.users_topic(), 1 - lane, kept);
  }

  const AttachUsersWorld world_{2, "@key"};
};

// What one lane lost does not touch those whom another lane closed. It is accepted only by name.
TEST_F(ClosedUsers, OfWholeStoresStayClosedWhereAnotherLanesIsLost) {
  lose_store(0);
  world_.add_partitions_to_all(3);
  world_.write_among(AttachUsersWorld::values_of_users(300, 2), 3);
  const CommandResult refused = world_.run(loose + anew);
  EXPECT_EQ(refused.code, 65) << refused.err;
  EXPECT_THAT(refused.err, AllOf(HasSubstr("lost in lanes 0:"), HasSubstr("--new-epoch --accept-gap")));
  for (const int lane : {0, 1}) EXPECT_EQ(last_epoch(world_, lane), 0U) << lane;
  const CommandResult went_on = world_.run(loose + anew + accepted);
  ASSERT_EQ(went_on.code, 0) << went_on.err;
  EXPECT_THAT(went_on.err, HasSubstr("close them again"));
  const auto of_lane_1 =
      std::ranges::count_if(everybody(), [](const std::string& who) { return partition_of(who, 2) == 1; });
  EXPECT_THAT(at_limit_by_lane(world_), AllOf(::testing::SizeIs(3), Each(of_lane_1)));
}

// Lanes that never took a step of the change in between name those who were closed before it.
TEST_F(ClosedUsers, StayClosedThroughAChangeThatWasPassedOver) {
  world_.add_partitions_to_all(3);
  world_.write_among(AttachUsersWorld::values_of_users(300, 2), 3);
  interrupt_change(world_, loose, 3);
  world_.add_partitions_to_all(4);
  world_.write_among(AttachUsersWorld::values_of_users(900, 3), 4);
  expect_ends(world_, loose + anew, {0, 1, 2, 3}, 20);
  EXPECT_THAT(at_limit_by_lane(world_), AllOf(::testing::SizeIs(4), Each(everybody().size())));
}

TEST(ClosedUsersOfAnEmptyStream, StayClosedInOtherLanes) {
  const AttachUsersWorld world(2, "@key");
  const CommandResult first = world.run(loose);
  ASSERT_EQ(first.code, 0) << first.err;
  close_everybody(world, loose);
  world.add_partitions_to_all(3);
  const CommandResult moved = world.run(loose + anew);
  ASSERT_EQ(moved.code, 0) << moved.err;
  EXPECT_THAT(at_limit_by_lane(world), AllOf(::testing::SizeIs(3), Each(everybody().size())));
}

}  // namespace
}  // namespace nustream::tests
