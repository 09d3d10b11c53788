// A service with a planted bug releases a batch in the same transaction as its state. A reader of aborted records has
// to catch it, or the other tests with that reader prove nothing. The next start has to catch it as well.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "attach_promise.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

std::uint64_t last_readable_step(const AttachWorld& world) {
  simdjson::dom::parser parser;
  std::uint64_t last = 0;
  for (const std::string& line : world.releases_uncommitted()) {
    last = std::max(last, parser.parse(line)["step"].get_uint64().value());
  }
  return last;
}

/// Runs 100 records that commit, and then 100 more in a run that dies right before its commit, once what it wrote is
/// at the broker. `passage` says at which passage of that place it dies.
void die_before_the_commit(const AttachWorld& world, int passage, std::vector<std::string> variables = {}) {
  std::vector<std::string> arguments{"--set", "state.commit_records=100",
                                     "--set", "kafka.group_instance_id=\"one\"",
                                     "--set", "kafka.transaction_seconds=6",
                                     "--set", "release.every=10",
                                     "--set", "kafka.stop=100"};
  world.write(AttachWorld::values(100));
  const CommandResult first = run_command(NUSTREAM_PLANTED_COMMAND, world.attach(arguments), {}, variables);
  ASSERT_EQ(first.code, 0) << first.err;
  world.write(AttachWorld::values(100, 2));
  arguments.back() = "kafka.stop=200";
  variables.push_back("NUSTREAM_FAILPOINT=after-produce:" + std::to_string(passage) + ":500");
  const CommandResult killed = run_command(NUSTREAM_PLANTED_COMMAND, world.attach(arguments), {}, variables);
  ASSERT_EQ(killed.code, 128 + SIGKILL) << killed.err;
}

TEST(PlantedRelease, InTheTransactionOfItsOwnStateIsCaughtByAReaderOfAbortedRecordsAndByTheNextStart) {
  const AttachWorld world;
  // The state still holds what it has published already, so that the run takes the lane over by a transaction.
  die_before_the_commit(world, 2, {"NUSTREAM_PLANT=release-in-its-own-transaction"});
  EXPECT_GT(last_readable_step(world), 100U);
  const CommandResult next = run_command(NUSTREAM_COMMAND, world.attach());
  EXPECT_EQ(next.code, 65);
  EXPECT_THAT(next.err, HasSubstr("is released, but the state is at"));
}

// The kill comes in each transaction of the second run: nobody reads a step that no committed state holds.
TEST(PlantedRelease, AndTheServiceAsItIsShowsNothingOfABatchThatDidNotCommit) {
  for (const int passage : {1, 2}) {
    const AttachWorld world;
    die_before_the_commit(world, passage);
    EXPECT_LE(last_readable_step(world), ledger_end(world).steps) << passage;
    EXPECT_LE(ledger_end(world).steps, ledger_end(world).reserved) << passage;
    EXPECT_EQ(run_command(NUSTREAM_COMMAND, world.attach({"--set", "kafka.stop=200"})).code, 0);
    EXPECT_EQ(ledger_end(world).steps, 200U);
  }
}

}  // namespace
}  // namespace nustream::tests
