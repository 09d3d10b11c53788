#include "attach/start_up.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <memory>

namespace nustream::attach {
namespace {

// A signal that came while the process was leaving used to end it: the signal then took the place of the exit code.
TEST(StartUpDeathTest, AProcessThatLeavesKeepsItsExitCode) {
  for (const int signal : {SIGINT, SIGTERM}) {
    EXPECT_EXIT(
        {
          { const StartUp start_up(std::make_shared<boost::asio::io_context>()); }
          std::raise(signal);
          std::_Exit(73);
        },
        ::testing::ExitedWithCode(73), "");
  }
}

TEST(StartUp, SignalsStandForExitCodes) {
  const auto restore = [](void*) {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
  };
  const std::unique_ptr<void, decltype(restore)> at_the_end(this, restore);
  for (const auto& [signal, code] : {std::pair{SIGINT, Exit::interrupted}, std::pair{SIGTERM, Exit::done}}) {
    StartUp start_up(std::make_shared<boost::asio::io_context>());
    EXPECT_EQ(start_up.told_to_end(), std::nullopt);
    std::raise(signal);
    EXPECT_EQ(start_up.told_to_end(), code);
  }
}

}  // namespace
}  // namespace nustream::attach
