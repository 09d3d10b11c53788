// The attached service as a process on a real broker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attach_promise.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Attach, ReplaysABoundedTopicAsAFileWithTheSameRecords) {
  const AttachWorld world;
  const std::vector<std::string> values = AttachWorld::values(3000);
  world.write(values);
  const CommandResult result = world.run({"--until-end", "--insecure-seed", "7"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(joined(world.releases()) == replayed(world, values, 7)) << result.err;
}

// The lane is that of a replay, whatever it holds: second moments for intervals, two stages with their own noise and
// a charged strength, or batches of iterates.
TEST(Attach, EveryStageIsThatOfReplay) {
  const std::string sandwich = R"([intervals]
kind = "sandwich"
second_moment_clip = 4.0
squared_residual_clip = 2.0
[kafka]
)";
  const std::string two_stages = R"([[instruments]]
column = "z"
[[endogenous]]
column = "x"
[first_stage]
step_size = 0.02
clip_norm = 2.0
strength_share = 0.3
strength_clip = 6.0
[intervals]
kind = "batch-means"
batches = 32
batch_steps = 80
)";
  const std::vector<std::vector<std::pair<std::string, std::string>>> models{
      {{"[kafka]\n", sandwich}},
      {{R"(columns = ["x", "y"])", R"(columns = ["z", "x", "y"])"}, {"[[features]]\ncolumn = \"x\"\n", two_stages}}};
  for (std::size_t i = 0; i < models.size(); ++i) {
    AttachWorld world;
    world.change_config(models[i]);
    std::vector<std::string> values = AttachWorld::values(3000);
    if (i == 1) {
      for (std::string& value : values) value = value.substr(0, value.find(',')) + "," + value;
    }
    world.write(values);
    const CommandResult result = world.run({"--until-end", "--insecure-seed", "7"});
    ASSERT_EQ(result.code, 0) << result.err;
    const std::string releases = joined(world.releases());
    // Intervals are shown only where the path has settled. Every release says whether it has.
    EXPECT_NE(releases.find(R"("status":)"), std::string::npos);
    EXPECT_EQ(releases.find("\"first_stage\":") != std::string::npos, i == 1);
    EXPECT_TRUE(releases == replayed(world, values, 7)) << result.err;
  }
}

// Nobody has to say how many records there will be. Once a lane has stepped so many that its δ is large, the next
// start says so; where plan.records says as much, it was said at the start.
TEST(Attach, WarnsOfADeltaThatIsLargeForTheRecordsOfALane) {
  const AttachWorld world;
  world.write(AttachWorld::values(1500));
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--until-end", "--set", "privacy.delta=0.01"});
    const CommandResult result = world.run(more);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.err;
  };
  const std::string large = "privacy.delta = 0.01 is far above 1/n of 1500 records: ";
  EXPECT_THAT(run({}), Not(HasSubstr("far above"))) << "no record was stepped before";
  EXPECT_THAT(run({}), HasSubstr("lane 0: " + large));
  EXPECT_THAT(run({"--set", "plan.records=1500"}), AllOf(HasSubstr(large), Not(HasSubstr("lane 0: " + large))));
}

// This is the order of a real day: kill, go on, SIGTERM, go on under more records.
TEST(Attach, GoesOnWhereItWasAndReleasesEachStepOnce) {
  const AttachWorld world;
  const std::vector<std::string> values = AttachWorld::values(2000);
  world.write({values.begin(), values.begin() + 900});
  ASSERT_EQ(world.run({"--until-end", "--insecure-seed", "7"}).code, 0);
  world.write({values.begin() + 900, values.end()});
  {
    Command command(NUSTREAM_COMMAND, world.attach({"--insecure-seed", "7", "--set", "state.commit_seconds=0.1"}));
    wait_until([&] { return ledger_end(world).steps == 2000; });
    command.signal(SIGTERM);
    const CommandResult result = command.wait();
    EXPECT_EQ(result.code, 0) << result.err;
  }
  EXPECT_EQ(ledger_end(world).steps, 2000U);
  expect_each_step_once(world.releases());
  expect_one_value_a_step(world.releases_uncommitted());
}

/// Waits until the service has published `releases` releases of a lane.
void wait_for_releases(const AttachWorld& world, std::size_t releases) {
  wait_until(
      [&] { return read_committed_records(AttachWorld::direct(), world.name() + ".releases").size() >= releases; });
}

// 10 is not a multiple of 7: a batch that waited for its last three records would wait for ever.
TEST(Attach, ClosesABatchAtItsLastWholeMinibatch) {
  const AttachWorld world;
  const std::vector<std::string> values = AttachWorld::values(2000);
  world.write(values);
  Command command(NUSTREAM_COMMAND,
                  world.attach({"--until-end", "--insecure-seed", "7", "--set", "descent.minibatch=7", "--set",
                                "state.commit_records=10", "--set", "state.commit_seconds=3600", "--set",
                                "release.every=10", "--set", "release.linger_seconds=3600"}));
  constexpr std::size_t steps = 2000 / 7;
  wait_for_releases(world, steps / 10);
  EXPECT_GE(ledger_end(world).steps, steps - 1);
  command.signal(SIGKILL);
  static_cast<void>(command.wait());
}

// What a lane cannot take while its transaction is under way waits in the client's queue, and is fetched again where
// the wait is long. Here a broker stands still for longer than that, in the middle of many small batches.
TEST(Attach, TakesEachRecordOnceHoweverLongItHasToWait) {
  const AttachWorld world(2);
  const std::vector<std::string> values = AttachWorld::values(30'000);
  world.write(values, 0);
  world.write(values, 1);
  Command command(NUSTREAM_COMMAND,
                  world.attach({"--until-end", "--insecure-seed", "7", "--set", "state.commit_records=200", "--set",
                                "kafka.buffered_records=500"}));
  for (const std::size_t releases : {20U, 100U, 200U}) {
    wait_for_releases(world, releases);
    shared_broker().freeze();
    std::this_thread::sleep_for(std::chrono::milliseconds(1'500));
    shared_broker().thaw();
  }
  const CommandResult result = command.wait();
  ASSERT_EQ(result.code, 0) << result.err;
  for (const int lane : {0, 1}) {
    EXPECT_TRUE(joined(world.releases(lane)) == replayed(world, values, 7, lane)) << "lane " << lane;
    expect_one_value_a_step(world.releases_uncommitted(lane));
  }
}

// A lane that was paused while its broker stood still has too little for a step, and more than half of what it may
// hold. It has to read on all the same.
TEST(Attach, ReadsOnWhereLessThanAMinibatchWaits) {
  const AttachWorld world;
  const std::vector<std::string> values = AttachWorld::values(60'000);
  world.write(values);
  Command command(NUSTREAM_COMMAND,
                  world.attach({"--until-end", "--insecure-seed", "7", "--set", "descent.minibatch=520", "--set",
                                "state.commit_records=520", "--set", "kafka.buffered_records=520", "--set",
                                "release.every=1", "--set", "state.commit_seconds=3600"}));
  for (std::size_t releases = 5; releases <= 75; releases += 10) {
    wait_for_releases(world, releases);
    shared_broker().freeze();
    std::this_thread::sleep_for(std::chrono::milliseconds(1'000));
    shared_broker().thaw();
  }
  wait_for_releases(world, values.size() / 520);
  EXPECT_EQ(ledger_end(world).steps, values.size() / 520);
  command.signal(SIGTERM);
  EXPECT_EQ(command.wait().code, 0);
}

}  // namespace
}  // namespace nustream::tests
