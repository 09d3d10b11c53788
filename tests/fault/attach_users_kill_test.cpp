// The attached service where the unit is the user is killed by SIGKILL at every boundary of a transaction and at
// random moments, and its lanes are handed to and fro. The counts are those of the committed steps, so that readers
// find what an undisturbed run would have left.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <random>
#include <thread>

#include "attach_windows_world.h"
#include "campaign.h"
#include "journal/failpoint.h"
#include "operator_listener.h"

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
  // On a busy machine batches close full, and there still are more of them than passages.
  const std::vector<std::string> values = AttachUsersWorld::values_of_users(campaign() ? 1200 : 600);
  int kills = 0;
  for (const std::string_view place : journal::topic_failpoints) {
    if (place == "after-abort-transaction") continue;  // no transaction aborts here: see attach_abort_test.cpp
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

// With the table on disk, one instance's folder after the other.
TEST(AttachUsersKill, AtEveryBoundaryOfATransactionLeavesTheTableOnDiskOfTheCommittedSteps) {
  const std::vector<std::string> values = AttachUsersWorld::values_of_users(600);
  for (const std::string_view place : journal::topic_failpoints) {
    if (place == "after-abort-transaction") continue;
    const bool once_a_run = place == "after-init-transactions" || place == "after-read-state";
    SCOPED_TRACE(std::string(place));
    const AttachUsersWorld world;
    world.write(values);
    std::vector<std::string> on_disk = small_batches;
    const std::filesystem::path folder = std::filesystem::path(world.config()).parent_path() / "instance";
    for (const std::string& more : {std::string("--set"), std::string("users.store=\"disk\""), std::string("--set"),
                                    "state.directory=\"" + folder.string() + "\""}) {
      on_disk.push_back(more);
    }
    const CommandResult killed =
        run_command(NUSTREAM_FAULTY, world.attach(on_disk), {},
                    {"NUSTREAM_FAILPOINT=" + std::string(place) + (once_a_run ? ":1" : ":4")});
    EXPECT_EQ(killed.code, 128 + SIGKILL) << killed.err;
    const CommandResult finished = world.run(on_disk);
    ASSERT_EQ(finished.code, 0) << finished.err;
    EXPECT_TRUE(std::filesystem::exists(folder / "users-0.table"));
    EXPECT_TRUE(joined(world.releases()) == replayed(world, values, 7));
    expect_one_value_a_step(world.releases_uncommitted());
  }
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

/// The number of lanes changes: each lane closes the old division and begins the new one by transactions of its own.
/// Nobody who was at the limit in the old epoch counts in the new one, and no lane takes a step of both.
TEST(AttachUsersKill, AtEveryBoundaryOfAChangeOfLanesLosesNoCount) {
  // The member is not a static one: to such a member the group would give the partitions that it had before there
  // were more.
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
      EXPECT_TRUE(is_killed || passage > 1) << killed.err;  // not all places are passed three times
      kills += is_killed ? 1 : 0;
      // Once the new epoch has begun, the option finds nothing to do.
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

/// Expects after the last disturbance that every lane's releases and spend are those of an undisturbed run. Its users
/// count exactly as often as their limits let them.
void expect_an_undisturbed_end(const AttachUsersWorld& world, const std::vector<std::string>& values) {
  const CommandResult finished = run_command(
      NUSTREAM_COMMAND, world.attach({"--until-end", "--insecure-seed", "7", "--set", "state.commit_records=5000"}));
  ASSERT_EQ(finished.code, 0) << finished.err;
  for (int lane = 0; lane < world.partitions(); ++lane) {
    const std::vector<std::string> of_lane = world.values_of_lane(values, lane);
    EXPECT_EQ(ledger_end(world, lane).steps, of_lane.size() / 5);
    EXPECT_GE(expect_same_estimates(world.releases(lane),
                                    replayed(world, of_lane, 7, lane, {"--set", "privacy.user=\"who\""})),
              of_lane.size() / 5 / 10);
    expect_one_value_a_step(world.releases_uncommitted(lane));
    expect_each_step_once(world.releases(lane));
  }
}

/// Two lanes under two services that are killed by turns. Each kill moves lanes, and each move rebuilds tables.
TEST(AttachUsersKill, AtRandomMomentsOfTwoServicesLeavesWhatAnUndisturbedRunLeaves) {
  const int kills = static_cast<int>(asked("NUSTREAM_KILLS", static_cast<std::uint64_t>(scaled(1000, 10))));
  const AttachUsersWorld world(2, "@key");
  const std::vector<std::string> values =
      AttachUsersWorld::values_of_users(16'000 + 500 * static_cast<std::size_t>(kills));
  world.write_keyed(values);
  const std::vector<std::string> arguments =
      world.attach({"--insecure-seed", "7", "--set", "state.commit_records=50", "-X", "session.timeout.ms=2000", "-X",
                    "heartbeat.interval.ms=300"});
  std::mt19937_64 bits(asked("NUSTREAM_SEED", 11));
  std::unique_ptr<Command> services[2];
  int killed = 0;
  for (std::size_t turn = 0; killed < kills; ++turn) {
    std::unique_ptr<Command>& service = services[turn % 2];
    if (service) {
      const bool is_killed = bits() % 5 != 0;  // every fifth is asked to stop, and hands its lanes over
      service->signal(is_killed ? SIGKILL : SIGTERM);
      killed += is_killed ? 1 : 0;
      static_cast<void>(service->wait());
    }
    service = std::make_unique<Command>(NUSTREAM_COMMAND, arguments);
    std::this_thread::sleep_for(std::chrono::milliseconds(300 + bits() % 1500));
  }
  for (auto& service : services) {
    service->signal(SIGTERM);
    static_cast<void>(service->wait());
  }
  expect_an_undisturbed_end(world, values);
  ::testing::Test::RecordProperty("kills", killed);
}

/// A second service joins and leaves every second. Each rebalance moves lanes, and each move rebuilds the table of
/// whoever gets one.
TEST(AttachUsersRebalance, EverySecondLeavesWhatAnUndisturbedRunLeaves) {
  const int rounds = scaled(60, 8);
  const AttachUsersWorld world(4, "@key");
  const std::vector<std::string> values =
      AttachUsersWorld::values_of_users(500 * static_cast<std::size_t>(rounds) + 4000);
  const std::vector<std::string> more{
      "--insecure-seed",          "7", "--set", "state.commit_records=20", "-X", "session.timeout.ms=3000", "-X",
      "heartbeat.interval.ms=500"};
  Command steady(NUSTREAM_COMMAND, world.attach(more));
  int moved = 0;
  // Until it is known how long a rebalance takes here.
  auto patience = std::chrono::milliseconds(std::chrono::minutes(2));
  for (int round = 0; round < rounds; ++round) {
    const auto part = values.begin() + 500 * static_cast<std::ptrdiff_t>(round);
    world.write_keyed({part, part + 500});
    const std::string address = some_operator_address();
    std::vector<std::string> arguments = more;
    arguments.insert(arguments.end(), {"--set", "serve.operator_address=\"" + address + "\""});
    Command second(NUSTREAM_COMMAND, world.attach(arguments));
    const auto joined_at = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::seconds(1));
    while (lanes_of(address) == 0 && std::chrono::steady_clock::now() - joined_at < patience) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    const auto taken =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - joined_at);
    const bool has_lanes = lanes_of(address) > 0;
    if (has_lanes && moved == 0) patience = std::max(std::chrono::milliseconds(3000), 3 * taken);
    moved += has_lanes ? 1 : 0;
    second.signal(SIGTERM);
    EXPECT_EQ(second.wait().code, 0);
  }
  EXPECT_GE(moved, rounds / 2) << "nothing was disturbed";
  ::testing::Test::RecordProperty("rounds", rounds);
  ::testing::Test::RecordProperty("rounds_in_which_lanes_moved_there_and_back", moved);
  world.write_keyed({values.begin() + 500 * static_cast<std::ptrdiff_t>(rounds), values.end()});
  steady.signal(SIGTERM);
  EXPECT_EQ(steady.wait().code, 0);
  expect_an_undisturbed_end(world, values);
}

}  // namespace
}  // namespace nustream::tests
