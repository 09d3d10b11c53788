// The attached service as a process on a real broker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attach_promise.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

TEST(Attach, ReplaysABoundedTopicAsAFileWithTheSameRecords) {
  const AttachWorld world;
  const std::vector<std::string> values = AttachWorld::values(3000);
  world.write(values);
  const CommandResult result = world.run({"--until-end", "--insecure-seed", "7"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(joined(world.releases()) == replayed(world, values, 7)) << result.err;
}

// The order of a real day: kill, go on, SIGTERM, go on under more records.
TEST(Attach, GoesOnWhereItWasAndReleasesEachStepOnce) {
  const AttachWorld world;
  const std::vector<std::string> values = AttachWorld::values(2000);
  world.write({values.begin(), values.begin() + 900});
  ASSERT_EQ(world.run({"--until-end", "--insecure-seed", "7"}).code, 0);
  world.write({values.begin() + 900, values.end()});
  {
    Command command(NUSTREAM_COMMAND, world.attach({"--insecure-seed", "7", "--set", "state.commit_seconds=0.1"}));
    for (int look = 0; look < 200 && ledger_end(world).steps < 2000; ++look) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    command.signal(SIGTERM);
    const CommandResult result = command.wait();
    EXPECT_EQ(result.code, 0) << result.err;
  }
  EXPECT_EQ(ledger_end(world).steps, 2000U);
  expect_each_step_once(world.releases());
  expect_one_value_a_step(world.releases_uncommitted());
}

}  // namespace
}  // namespace nustream::tests
