// The attached service in the inner loop: killed in the middle of a stream and started again, it has released what a
// replay of the same records releases.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "attach_promise.h"
#include "publish/release_json.h"

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

// The service may be killed at any moment: the old epoch's last release may still be in the outbox of its state.
TEST(AttachQuick, ANewEpochGoesOnFromTheLastReleaseOfTheLane) {
  const AttachWorld world;
  const std::vector<std::string> values = AttachWorld::values(1500);
  world.write({values.begin(), values.begin() + 1000});
  const std::vector<std::string> fast{"--set", "state.commit_records=50", "-X", "session.timeout.ms=3000"};
  {
    Command service(NUSTREAM_COMMAND, world.attach(fast));
    wait_until([&] { return ledger_end(world).steps >= 300; });
    service.signal(SIGKILL);
    EXPECT_EQ(service.wait().code, 128 + SIGKILL);
  }
  // However far it came, the next epoch has records of its own.
  world.write({values.begin() + 1000, values.end()});
  // The steps are so small that a release shows where the epoch began.
  std::vector<std::string> standing_still = fast;
  for (const char* more : {"--until-end", "--set", "descent.step_size=1e-9", "--set", "release.every=1"}) {
    standing_still.emplace_back(more);
  }
  EXPECT_EQ(world.run(standing_still).code, 65) << "other settings are another epoch";
  standing_still.emplace_back("--new-epoch");
  const CommandResult result = world.run(standing_still);
  ASSERT_EQ(result.code, 0) << result.err;
  std::optional<publish::ShownRelease> last;
  std::optional<publish::ShownRelease> begun;
  for (const std::string& line : world.releases()) {
    const auto release = publish::read_release(line).value();
    if (release.epoch == EpochId{0}) last = release;
    if (release.epoch == EpochId{1} && !begun) begun = release;
  }
  ASSERT_TRUE(last && begun);
  EXPECT_NE(result.err.find("epoch 1 goes on from the release at step " + std::to_string(last->step) + " of epoch 0"),
            std::string::npos)
      << result.err;
  EXPECT_GT(std::abs(last->estimate[1].second), 1e-3) << "another start than zero";
  for (std::size_t j = 0; j < last->estimate.size(); ++j) {
    EXPECT_NEAR(begun->estimate[j].second, last->estimate[j].second, 1e-6) << last->estimate[j].first;
  }
  standing_still.emplace_back("--from-start");
  EXPECT_EQ(world.run(standing_still).code, 0) << "no lane needs a new epoch: each goes on by its own rule";
}

}  // namespace
}  // namespace nustream::tests
