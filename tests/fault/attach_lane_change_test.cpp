// Users who move to other lanes behind a past that was not a plain one: limits that changed, a state that is lost, a
// change that was interrupted. What they spent is charged, and nobody counts in two lanes at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "attach_users_world.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

using Arguments = std::vector<std::string>;

Arguments operator+(Arguments first, const Arguments& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

/// A service that was killed leaves the group soon.
const Arguments until_end{"--until-end",
                          "-X",
                          "session.timeout.ms=2000",
                          "-X",
                          "heartbeat.interval.ms=300",
                          "--set",
                          "kafka.transaction_seconds=6",
                          "--set",
                          "release.every=1"};
const Arguments anew{"--new-epoch"};
const Arguments another_setting{"--set", "descent.step_size=0.02"};
const Arguments other_partitioner{"--set", "users.partitioner=\"crc32\""};

std::vector<std::string> ledger_of(const AttachWorld& world, int lane) {
  return values_of(world.committed(world.name() + ".ledger", lane));
}

/// ρ of the worst user over all epochs, as the lane's last release tells it.
double charged_by(const AttachWorld& world, int lane) {
  simdjson::dom::parser parser;
  return parser.parse(world.releases(lane).back())["rho_ledger"].get_double().value();
}

std::uint64_t last_epoch(const AttachWorld& world, int lane) {
  const std::vector<std::string> lines = ledger_of(world, lane);
  simdjson::dom::parser parser;
  return lines.empty() ? 0 : parser.parse(lines.back())["epoch"].get_uint64().value();
}

/// Runs to the end, or fails where the lanes wait for each other for ever.
void expect_ends(const AttachWorld& world, const Arguments& arguments, const std::vector<int>& lanes,
                 std::size_t steps) {
  Command service(NUSTREAM_COMMAND, world.attach(arguments));
  wait_until(
      [&] { return std::ranges::all_of(lanes, [&](int lane) { return ledger_end(world, lane).steps >= steps; }); });
  const CommandResult result = service.wait();
  EXPECT_EQ(result.code, 0) << result.err;
}

/// Closes all old lanes for the new division and is killed right behind its commit number `commits`.
void interrupt_change(const AttachWorld& world, const Arguments& arguments, int commits) {
  const CommandResult killed =
      run_command(NUSTREAM_FAULTY, world.attach(arguments + anew), {},
                  {"NUSTREAM_FAILPOINT=after-commit-transaction:" + std::to_string(commits)});
  ASSERT_EQ(killed.code, 128 + SIGKILL) << killed.err;
}

// With one of three in one epoch and four in the next there is no line that both are entries of, but a charge.
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
  // Each epoch's ρ is .5 over endless steps: what a user may spread over them is no more than both.
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
  // The same once the state is opened again.
  world.write_among(AttachUsersWorld::values_of_users(300, 5), 2);
  ASSERT_EQ(world.run(until_end).code, 0);
  for (const int lane : {0, 1}) EXPECT_LE(charged_by(world, lane), .5 * (1 + 1e-9)) << lane;
}

/// One contribution a user: whoever begins anew pays all of ρ once more.
class InterruptedChange : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.write_keyed(AttachUsersWorld::values_of_users(600));
    const CommandResult first = world_.run(one_each_);
    ASSERT_EQ(first.code, 0) << first.err;
    for (const int lane : {0, 1}) one_ = std::max(one_, charged_by(world_, lane));
    EXPECT_GT(one_, .3);
  }
  /// In a new epoch that all lanes began.
  void expect_all_charged(const std::vector<int>& lanes) const {
    for (const int lane : lanes) {
      EXPECT_THAT(ledger_of(world_, lane).back(), HasSubstr(R"("counts":false)")) << lane;
      EXPECT_GT(charged_by(world_, lane), 1.5 * one_) << lane;
    }
  }

  const AttachUsersWorld world_{2, "@key"};
  const Arguments one_each_ = until_end + Arguments{"--set", "users.participations=1"};
  double one_ = 0;
};

TEST_F(InterruptedChange, BehindALostStateIsChargedByItsLedger) {
  const std::vector<StoredRecord> states = world_.committed(world_.name() + ".state", 1);
  ASSERT_FALSE(states.empty());
  write_records(world_.direct(), world_.name() + ".state", 1, {{states.back().key, std::nullopt}});
  world_.add_partitions_to_all(3);
  world_.write_among(AttachUsersWorld::values_of_users(600, 2), 3);
  expect_ends(world_, one_each_ + anew, {0, 1, 2}, 20);
  expect_all_charged({0, 1, 2});
}

TEST_F(InterruptedChange, IsNotTakenBackByTheOldDivision) {
  interrupt_change(world_, one_each_ + other_partitioner, 2);  // both are closed, none began
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
  ASSERT_EQ(last_epoch(world_, 0) + last_epoch(world_, 1), 1U);  // one of them
  world_.write_keyed(AttachUsersWorld::values_of_users(600, 2));
  expect_ends(world_, one_each_ + another_setting + anew, {0, 1}, 20);
  expect_all_charged({0, 1});
}

/// From two lanes to three, interrupted behind `commits`, and on to four.
void change_twice(const AttachUsersWorld& world, const Arguments& arguments, int commits) {
  world.add_partitions_to_all(3);
  world.write_among(AttachUsersWorld::values_of_users(300, 2), 3);
  interrupt_change(world, arguments, commits);
  world.add_partitions_to_all(4);
  world.write_among(AttachUsersWorld::values_of_users(900, 3), 4);
  expect_ends(world, arguments + anew, {0, 1, 2, 3}, 20);
}

TEST_F(InterruptedChange, ThatAnotherChangeFollowsIsChargedInAllLanes) {
  change_twice(world_, one_each_, 3);  // one lane of three began
  expect_all_charged({0, 1, 2, 3});
}

TEST_F(InterruptedChange, ThatNobodyBeganIsPassedOver) {
  change_twice(world_, one_each_, 2);
  expect_all_charged({0, 1, 2, 3});
}

}  // namespace
}  // namespace nustream::tests
