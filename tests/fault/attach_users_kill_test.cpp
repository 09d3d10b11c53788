// The attached service where the unit is the user, killed with SIGKILL at every boundary of a transaction and at
// random moments, and handed to and fro: the counts are those of the committed steps, so that what readers find is
// what an undisturbed run would have left.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <random>
#include <thread>

#include "attach_windows_world.h"
#include "campaign.h"
#include "journal/failpoint.h"

namespace nustream::tests {
namespace {

const std::vector<std::string> small_batches{"--until-end",
                                             "--insecure-seed",
                                             "7",
                                             "--set",
                                             "state.commit_records=50",
                                             "--set",
                                             "kafka.group_instance_id=\"one\"",
                                             "--set",
                                             "kafka.transaction_seconds=6"};

std::vector<int> passages() {
  if (campaign()) return {1, 2, 3, 5, 8, 13};
  return {1, 4};
}

TEST(AttachUsersKill, AtEveryBoundaryOfATransactionLeavesWhatAnUndisturbedRunLeaves) {
  const std::vector<std::string> values = AttachUsersWorld::values_of_users(600);
  int kills = 0;
  for (const std::string_view place : journal::topic_failpoints) {
    if (place == "after-abort-transaction") continue;  // nothing aborts here: attach_abort_test.cpp
    for (const int passage : passages()) {
      const bool once_a_run = place == "after-init-transactions" || place == "after-read-state";
      if (once_a_run && passage > 1) continue;
      SCOPED_TRACE(std::string(place) + ":" + std::to_string(passage));
      const AttachUsersWorld world;
      world.write(values);
      const CommandResult killed =
          run_command(NUSTREAM_FAULTY, world.attach(small_batches), {},
                      {"NUSTREAM_FAILPOINT=" + std::string(place) + ":" + std::to_string(passage)});
      EXPECT_EQ(killed.code, 128 + SIGKILL) << killed.err;
      kills += killed.code == 128 + SIGKILL ? 1 : 0;
      const CommandResult finished = world.run(small_batches);
      ASSERT_EQ(finished.code, 0) << finished.err;
      EXPECT_TRUE(joined(world.releases()) == replayed(world, values, 7));
      expect_one_value_a_step(world.releases_uncommitted());
    }
  }
  ::testing::Test::RecordProperty("kills", kills);
}

// The table empties a few times, within batches and between them.
TEST(AttachUsersKill, AtEveryBoundaryOfATransactionLeavesTheUsersOfTheWindowThatIsOpen) {
  const std::vector<std::string> values = AttachUsersWorld::values_of_users(600);
  for (const std::string_view place : journal::topic_failpoints) {
    if (place == "after-abort-transaction") continue;
    const bool once_a_run = place == "after-init-transactions" || place == "after-read-state";
    SCOPED_TRACE(std::string(place));
    const AttachWindowsWorld world;
    world.write_in_windows(values, 3);
    const CommandResult killed =
        run_command(NUSTREAM_FAULTY, world.attach(small_batches), {},
                    {"NUSTREAM_FAILPOINT=" + std::string(place) + (once_a_run ? ":1" : ":6")});
    EXPECT_EQ(killed.code, 128 + SIGKILL) << killed.err;
    const CommandResult finished = world.run(small_batches);
    ASSERT_EQ(finished.code, 0) << finished.err;
    EXPECT_TRUE(joined(world.releases()) == world.replayed_as_recorded({"--set", "state.commit_records=50"}));
    expect_one_value_a_step(world.releases_uncommitted());
  }
}

/// The change to another number of lanes, which each lane closes and begins with transactions of its own: nobody
/// counts in the new epoch who was at the limit in the old one, and no lane takes a step of both.
TEST(AttachUsersKill, AtEveryBoundaryOfAChangeOfLanesLosesNoCount) {
  // No static member: the group would give it the partitions that it had before there were more.
  const std::vector<std::string> one_each{"--until-end",
                                          "--insecure-seed",
                                          "7",
                                          "--set",
                                          "users.participations=1",
                                          "--set",
                                          "privacy.rho=1e10",
                                          "--set",
                                          "descent.step_size=0.05",
                                          "--set",
                                          "release.every=1",
                                          "--set",
                                          "kafka.transaction_seconds=6",
                                          "-X",
                                          "session.timeout.ms=2000",
                                          "-X",
                                          "heartbeat.interval.ms=300"};
  std::vector<std::string> renewed = one_each;
  renewed.emplace_back("--new-epoch");
  int kills = 0;
  for (const std::string_view place : journal::topic_failpoints) {
    if (place == "after-abort-transaction") continue;
    for (const int passage : {1, 2, 3}) {
      SCOPED_TRACE(std::string(place) + ":" + std::to_string(passage));
      const AttachUsersWorld world(1, "@key");
      world.write_keyed(AttachUsersWorld::values_of_users(400));
      ASSERT_EQ(world.run(one_each).code, 0);
      world.add_partitions_to_all(2);
      world.write_among(AttachUsersWorld::values_of_users(200, 2), 2);
      const CommandResult killed =
          run_command(NUSTREAM_FAULTY, world.attach(renewed), {},
                      {"NUSTREAM_FAILPOINT=" + std::string(place) + ":" + std::to_string(passage)});
      const bool is_killed = killed.code == 128 + SIGKILL;
      EXPECT_TRUE(is_killed || passage > 1) << killed.err;  // not all places are passed thrice
      kills += is_killed ? 1 : 0;
      // Behind a new epoch that has begun, the option finds nothing to do.
      const CommandResult finished = world.run(renewed);
      ASSERT_EQ(finished.code, 0) << finished.err;
      simdjson::dom::parser parser;
      double last = 0;
      for (const int lane : {0, 1}) {
        expect_one_value_a_step(world.releases_uncommitted(lane));
        std::size_t steps = 0;
        for (const std::string& line : world.releases(lane)) {
          const simdjson::dom::element release = parser.parse(line);
          const double slope = release["estimate"]["x"].get_double().value();
          if (lane == 0 && release["epoch"].get_uint64().value() == 0) {
            last = slope;
            continue;
          }
          EXPECT_NEAR(slope, lane == 0 ? last : 0, 1e-4);
          ++steps;
        }
        EXPECT_GT(steps, 5U) << lane;
      }
      EXPECT_GT(std::abs(last), 1e-2);
    }
  }
  ::testing::Test::RecordProperty("kills", kills);
}

/// Two lanes under two services that are killed by turns: each kill moves lanes, and each move rebuilds tables.
TEST(AttachUsersKill, AtRandomMomentsOfTwoServicesLeavesWhatAnUndisturbedRunLeaves) {
  const int kills = scaled(1000, 10);
  const AttachUsersWorld world(2, "@key");
  const std::vector<std::string> values = AttachUsersWorld::values_of_users(campaign() ? 400'000 : 20'000);
  world.write_keyed(values);
  const std::vector<std::string> arguments =
      world.attach({"--insecure-seed", "7", "--set", "state.commit_records=50", "-X", "session.timeout.ms=2000", "-X",
                    "heartbeat.interval.ms=300"});
  std::mt19937_64 bits(11);
  std::unique_ptr<Command> services[2];
  for (int kill = 0; kill < kills; ++kill) {
    std::unique_ptr<Command>& service = services[kill % 2];
    if (service) {
      service->signal(bits() % 2 == 0 ? SIGKILL : SIGTERM);
      static_cast<void>(service->wait());
    }
    service = std::make_unique<Command>(NUSTREAM_COMMAND, arguments);
    std::this_thread::sleep_for(std::chrono::milliseconds(300 + bits() % 1500));
  }
  for (auto& service : services) {
    service->signal(SIGTERM);
    static_cast<void>(service->wait());
  }
  const CommandResult finished = run_command(
      NUSTREAM_COMMAND, world.attach({"--until-end", "--insecure-seed", "7", "--set", "state.commit_records=5000"}));
  ASSERT_EQ(finished.code, 0) << finished.err;
  for (const int lane : {0, 1}) {
    const std::vector<std::string> of_lane = world.values_of_lane(values, lane);
    EXPECT_EQ(ledger_end(world, lane).steps, of_lane.size() / 5);
    EXPECT_GE(expect_same_estimates(world.releases(lane),
                                    replayed(world, of_lane, 7, lane, {"--set", "privacy.user=\"who\""})),
              of_lane.size() / 5 / 10);
    expect_one_value_a_step(world.releases_uncommitted(lane));
    expect_each_step_once(world.releases(lane));
  }
}

}  // namespace
}  // namespace nustream::tests
