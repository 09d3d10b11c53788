// The attached service killed with SIGKILL at every boundary of a transaction and at random moments: what readers of
// its topics find is what an undisturbed run would have left.
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <thread>

#include "attach_promise.h"
#include "journal/failpoint.h"
#include "recovery.h"

namespace nustream::tests {
namespace {

const std::vector<std::string> small_batches{"--until-end",
                                             "--set",
                                             "state.commit_records=100",
                                             "--set",
                                             "kafka.group_instance_id=\"one\"",
                                             "--set",
                                             "kafka.transaction_seconds=6"};

std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::vector<int> passages() {
  if (campaign()) return {1, 2, 3, 5, 8, 13};
  return {1, 2, 7};
}

/// Each place, early and late; the run that follows finishes the stream.
TEST(AttachKill, AtEveryBoundaryOfATransactionLeavesWhatAnUndisturbedRunLeaves) {
  const std::vector<std::string> values = AttachWorld::values(1500);
  int kills = 0;
  for (const std::string_view place : journal::topic_failpoints) {
    if (place == "after-abort-transaction") continue;  // nothing aborts here: attach_abort_test.cpp
    for (const int passage : passages()) {
      SCOPED_TRACE(std::string(place) + ":" + std::to_string(passage));
      const AttachWorld world;
      world.write(values);
      const auto arguments = world.attach(with({"--insecure-seed", "7"}, small_batches));
      const CommandResult killed =
          run_command(NUSTREAM_FAULTY, arguments, {},
                      {"NUSTREAM_FAILPOINT=" + std::string(place) + ":" + std::to_string(passage)});
      // Taking over happens once a run.
      const bool passed = passage == 1 || (place != "after-init-transactions" && place != "after-read-state");
      if (passed) {
        EXPECT_EQ(killed.code, 128 + SIGKILL) << killed.err;
      }
      kills += killed.code == 128 + SIGKILL ? 1 : 0;
      const CommandResult finished = world.run(with({"--insecure-seed", "7"}, small_batches));
      ASSERT_EQ(finished.code, 0) << finished.err;
      EXPECT_TRUE(joined(world.releases()) == replayed(world, values, 7));
      expect_one_value_a_step(world.releases_uncommitted());
      EXPECT_EQ(ledger_end(world).steps, values.size());
    }
  }
  ::testing::Test::RecordProperty("kills", kills);
}

/// Real keys: other noise after each kill would show as two values of one step.
TEST(AttachKill, AtRandomMomentsUnderARealKeyShowsNoStepTwice) {
  const int kills = campaign() ? 100 : 8;
  const AttachWorld world;
  const std::vector<std::string> values =
      AttachWorld::values(campaign() ? 400'000 : 40'000);  // more than they all get done
  world.write(values);
  const auto arguments = world.attach(with({"--set", "state.commit_records=50"}, small_batches));
  std::mt19937_64 bits(11);
  int done = 0;
  for (int kill = 0; kill < kills; ++kill) {
    Command command(NUSTREAM_COMMAND, arguments);
    std::this_thread::sleep_for(std::chrono::milliseconds(200 + bits() % (campaign() ? 1300 : 800)));
    command.signal(SIGKILL);
    if (command.wait().code == 0) ++done;
  }
  const CommandResult finished = run_command(NUSTREAM_COMMAND, arguments);
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_LT(done, kills) << "no kill came in time";
  ::testing::Test::RecordProperty("kills", kills - done);
  expect_one_value_a_step(world.releases_uncommitted());
  expect_each_step_once(world.releases());
  const LedgerEnd end = ledger_end(world);
  EXPECT_EQ(end.steps, values.size());
  EXPECT_EQ(end.to, values.size());
  EXPECT_NEAR(end.rho, 0.5, 1e-6);
  EXPECT_EQ(world.releases().size(), values.size() / 100);
}

}  // namespace
}  // namespace nustream::tests
