// `nustream replay` is told to end: how it ends, and what it says about going on.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "command.h"
#include "replay_world.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

TEST(Signals, SigintIsResumableAndSigtermDrains) {
  const ReplayWorld world(10);
  for (const auto& [signal, code, tag] : {std::tuple{SIGINT, 130, "cadence"}, std::tuple{SIGTERM, 0, "shutdown"}}) {
    const std::string name = "pipe" + std::to_string(signal);
    ASSERT_EQ(::mkfifo(world.path(name).c_str(), 0600), 0);
    Command command(NUSTREAM_COMMAND, world.replay({world.path(name), "--set", "state.commit_seconds=0.02", "--set",
                                                    "release.every=10"},
                                                   name + "-state"));
    const int writer = ::open(world.path(name).c_str(), O_WRONLY);
    const std::string rows = ReplayWorld::csv(25);
    ASSERT_EQ(::write(writer, rows.data(), rows.size()), static_cast<ssize_t>(rows.size()));
    // Waits at most five minutes, which is no bound on speed: it ends a test that hangs.
    for (int i = 0; i < 15'000 && !std::filesystem::exists(world.path(name + "-state/state")); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    command.signal(signal);
    const CommandResult result = command.wait();
    ::close(writer);
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(signal == SIGINT ? "nustream: interrupted; " : "nustream: told to end; "));
    EXPECT_THAT(result.err, HasSubstr(" --resume\n"));
    EXPECT_THAT(world.releases(name + "-state"), HasSubstr(std::string("\"tag\":\"") + tag + "\""));
  }
}

// There is no state from which --resume could go on; behind an old epoch's state, --resume would go on with that
// epoch.
TEST(Signals, BeforeTheFirstStepLeaveNothingToResume) {
  const ReplayWorld world(10);
  ASSERT_EQ(world.run({}, "behind").code, 0);
  ASSERT_EQ(::mkfifo(world.path("pipe").c_str(), 0600), 0);
  for (const auto& [state, start] :
       {std::pair<const char*, std::vector<std::string>>{"fresh", {}}, {"behind", {"--new-epoch", "--from", "0"}}}) {
    for (const int signal : {SIGINT, SIGTERM}) {
      std::vector<std::string> options{world.path("pipe")};
      options.insert(options.end(), start.begin(), start.end());
      Command command(NUSTREAM_COMMAND, world.replay(options, state));
      const int writer = ::open(world.path("pipe").c_str(), O_WRONLY);
      const std::string header = ReplayWorld::csv(0);
      ASSERT_EQ(::write(writer, header.data(), header.size()), static_cast<ssize_t>(header.size()));
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      command.signal(signal);
      const CommandResult result = command.wait();
      ::close(writer);
      EXPECT_EQ(result.code, signal == SIGINT ? 130 : 0) << result.err;
      EXPECT_THAT(result.err, HasSubstr("nothing was stepped: give the same command again\n"));
    }
  }
}

TEST(Signals, EndARunThatStillWaitsForAWriter) {
  const ReplayWorld world(10);
  ASSERT_EQ(::mkfifo(world.path("pipe").c_str(), 0600), 0);
  Command command(NUSTREAM_COMMAND, world.replay({world.path("pipe")}));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  command.signal(SIGINT);
  const CommandResult result = command.wait();
  EXPECT_EQ(result.code, 130) << result.err;
}

}  // namespace
}  // namespace nustream::tests
