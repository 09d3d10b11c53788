// The attached service is killed by SIGKILL at every boundary of a transaction and at random moments. What readers of
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

/// Kills at each place, early and late; the run that follows finishes the stream. `settings` are added to the
/// world's.
void kill_at_every_boundary(const std::vector<std::string>& settings, std::uint64_t records_of_a_step) {
  const std::vector<std::string> values = AttachWorld::values(1500);
  const std::vector<std::string> options = with(with({"--insecure-seed", "7"}, small_batches), settings);
  int kills = 0;
  for (const std::string_view place : journal::topic_failpoints) {
    if (place == "after-abort-transaction") continue;  // no transaction aborts here: see attach_abort_test.cpp
    for (const int passage : passages()) {
      SCOPED_TRACE(std::string(place) + ":" + std::to_string(passage));
      const AttachWorld world;
      world.write(values);
      const auto arguments = world.attach(options);
      const CommandResult killed =
          run_command(NUSTREAM_FAULTY, arguments, {},
                      {"NUSTREAM_FAILPOINT=" + std::string(place) + ":" + std::to_string(passage)});
      // A lane is taken over once in a run.
      const bool passed = passage == 1 || (place != "after-init-transactions" && place != "after-read-state");
      if (passed) {
        EXPECT_EQ(killed.code, 128 + SIGKILL) << killed.err;
      }
      kills += killed.code == 128 + SIGKILL ? 1 : 0;
      const LedgerEnd end = ledger_end(world);
      ASSERT_LE(end.steps, end.reserved) << "steps that no ledger line pays for";
      const CommandResult finished = world.run(options);
      ASSERT_EQ(finished.code, 0) << finished.err;
      EXPECT_TRUE(joined(world.releases()) == replayed(world, values, 7, 0, settings));
      expect_one_value_a_step(world.releases_uncommitted());
      EXPECT_EQ(ledger_end(world).steps, values.size() / records_of_a_step);
    }
  }
  ::testing::Test::RecordProperty("kills", kills);
}

TEST(AttachKill, AtEveryBoundaryOfATransactionLeavesWhatAnUndisturbedRunLeaves) {
  kill_at_every_boundary({}, 1);
}

// A stage that begins in the middle takes its centre from committed sums, so that whoever goes on takes the same.
TEST(AttachKill, OfRunningSumsLeavesWhatAnUndisturbedRunLeaves) {
  kill_at_every_boundary(
      {"--set", "model.estimator=moments", "--set", "moments.row_norm=4", "--set", "moments.residual_bound=4",
       "--set", "moments.stages=[{from=500, residual_bound=2}]", "--set", "release.every=50"},
      50);
}

/// Under real keys, other noise after a kill would show as two values of one step.
TEST(AttachKill, AtRandomMomentsUnderARealKeyShowsNoStepTwice) {
  const auto kills = static_cast<int>(asked("NUSTREAM_KILLS", campaign() ? 100 : 8));
  const AttachWorld world;
  // There are more values than all runs together get done.
  const std::vector<std::string> values =
      AttachWorld::values(static_cast<std::size_t>(kills) * (campaign() ? 4000U : 5000U));
  world.write(values);
  const auto arguments = world.attach(with({"--set", "state.commit_records=50"}, small_batches));
  std::mt19937_64 bits(asked("NUSTREAM_KILL_SEED", 11));
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
