// What an operator at a terminal sees of a long job: a line that is drawn over and over, and is gone at its end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "command.h"
#include "example_config.h"
#include "replay_world.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* cleared = "\r\x1b[K";

/// All that the program writes to a terminal, which both of its outputs are.
std::string shown_on_terminal(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), NUSTREAM_COMMAND);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child < 0) throw std::runtime_error("cannot make a terminal");
  if (child == 0) {
    ::execv(argv.front(), argv.data());
    ::_exit(127);
  }
  std::string shown;
  std::array<char, 4096> chunk;
  // A terminal that its program left fails to be read.
  for (ssize_t got; (got = ::read(terminal, chunk.data(), chunk.size())) > 0;) {
    shown.append(chunk.data(), static_cast<std::size_t>(got));
  }
  ::close(terminal);
  int status = 0;
  if (::waitpid(child, &status, 0) != child || status != 0) throw std::runtime_error("the program failed: " + shown);
  return shown;
}

// Nothing is drawn within the first half second: the games last longer.
TEST(Terminal, ShowsHowFarAnAuditIs) {
  const TemporaryFolder folder;
  const std::string config = folder.write("audit.toml", example_config());
  const std::string shown = shown_on_terminal({"audit", config, "--runs", "100000"});
  EXPECT_THAT(shown, ContainsRegex("\\[=* *\\] +[0-9]+%  [0-9,]+ games  ETA [0-9]+:[0-9][0-9]"));
  const std::size_t last = shown.rfind(cleared);
  ASSERT_NE(last, std::string::npos);
  EXPECT_THAT(shown.substr(last), Not(HasSubstr("ETA"))) << "the bar is still there";
  EXPECT_THAT(shown.substr(last), HasSubstr("the claim holds"));
}

TEST(Terminal, ShowsHowFarAReplayIs) {
  const ReplayWorld world{1000};
  const std::string fifo = world.path("rows.fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), S_IRUSR | S_IWUSR), 0);
  const std::jthread writer([&fifo, rows = ReplayWorld::csv(1000)] {
    std::ofstream out(fifo);
    out << rows.substr(0, rows.size() / 2) << std::flush;
    std::this_thread::sleep_for(std::chrono::seconds(1));
    out << rows.substr(rows.size() / 2);
  });
  const std::string shown =
      shown_on_terminal(world.replay({"--to", "1000", "--set", "stream.input=\"" + fifo + "\""}));
  EXPECT_THAT(shown, ContainsRegex("\\[=+ *\\] +[0-9]+%  [0-9,]+ records  [0-9]+/s  ETA [0-9]+:[0-9][0-9]"));
  const std::size_t last = shown.rfind(cleared);
  ASSERT_NE(last, std::string::npos);
  EXPECT_THAT(shown.substr(last), Not(HasSubstr("ETA"))) << "the bar is still there";
}

}  // namespace
}  // namespace nustream::tests
