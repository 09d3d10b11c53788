// The attached service in the inner loop: killed in the middle of a stream, started again, and what it released is
// what a replay of the same records releases.
#include <gtest/gtest.h>

#include "attach_promise.h"

namespace nustream::tests {
namespace {

TEST(AttachQuick, KilledAndStartedAgainItReleasesWhatAReplayDoes) {
  const AttachWorld world;
  const std::vector<std::string> values = AttachWorld::values(2000);
  const std::vector<std::string> seeded{"--insecure-seed",         "7",  "--set",
                                        "state.commit_records=50", "-X", "session.timeout.ms=3000"};
  world.write({values.begin(), values.begin() + 1000});
  {
    Command service(NUSTREAM_COMMAND, world.attach(seeded));
    wait_until([&] { return ledger_end(world).steps >= 300; });
    service.signal(SIGKILL);
    EXPECT_EQ(service.wait().code, 128 + SIGKILL);
  }
  world.write({values.begin() + 1000, values.end()});
  std::vector<std::string> to_the_end = seeded;
  to_the_end.emplace_back("--until-end");
  const CommandResult result = world.run(to_the_end);
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(joined(world.releases()) == replayed(world, values, 7));
  expect_one_value_a_step(world.releases_uncommitted());
  EXPECT_EQ(ledger_end(world).steps, values.size());
}

}  // namespace
}  // namespace nustream::tests
