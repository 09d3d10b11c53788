// What an operator at a terminal sees of a long job: a line that is drawn over and over, and is gone at its end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
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

/// All that the program writes to a terminal, which is both of its outputs.
std::string shown_on_terminal(std::vector<std::string> arguments, unsigned short columns = 0,
                              const std::vector<std::string>& variables = {}) {
  arguments.insert(arguments.begin(), NUSTREAM_COMMAND);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const std::string& keys = configuration_folder();
  int terminal = -1;
  struct winsize size {};
  size.ws_col = columns;
  size.ws_row = 24;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child < 0) throw std::runtime_error("cannot make a terminal");
  if (child == 0) {
    for (const char* const name : {"NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG", "TERM", "COLUMNS"}) ::unsetenv(name);
    ::setenv("XDG_CONFIG_HOME", keys.c_str(), 1);
    for (const std::string& variable : variables) ::putenv(::strdup(variable.c_str()));
    ::execv(argv.front(), argv.data());
    ::_exit(127);
  }
  std::string shown;
  std::array<char, 4096> chunk;
  // Reading a terminal fails once its program has left it.
  for (ssize_t got; (got = ::read(terminal, chunk.data(), chunk.size())) > 0;) {
    shown.append(chunk.data(), static_cast<std::size_t>(got));
  }
  ::close(terminal);
  int status = 0;
  if (::waitpid(child, &status, 0) != child || status != 0) throw std::runtime_error("the program failed: " + shown);
  return shown;
}

// Nothing is drawn within the first half second; the games last longer.
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

/// Writes half of the rows, waits for a second, and writes the other half, so that there is time for a line to be
/// drawn.
std::string slow_replay(const ReplayWorld& world, unsigned short columns, const std::vector<std::string>& variables) {
  const std::string fifo = world.path("rows.fifo");
  if (::mkfifo(fifo.c_str(), S_IRUSR | S_IWUSR) != 0) throw std::runtime_error("cannot make a pipe");
  const std::jthread writer([&fifo, rows = ReplayWorld::csv(2000)] {
    std::ofstream out(fifo);
    for (std::size_t part = 0; part < 4; ++part) {
      out << rows.substr(part * rows.size() / 4, (part + 1) * rows.size() / 4 - part * rows.size() / 4) << std::flush;
      if (part < 3) std::this_thread::sleep_for(std::chrono::milliseconds(700));
    }
  });
  return shown_on_terminal(
      world.replay({"--to", "2000", "--set", "stream.input=\"" + fifo + "\"", "--set", "state.commit_records=100"}),
      columns, variables);
}

/// The lines that were drawn over and over, without what follows them.
std::vector<std::string> drawn_lines(const std::string& shown) {
  std::vector<std::string> lines;
  const std::string mark = cleared;
  for (std::size_t at = 0; (at = shown.find(mark, at)) != std::string::npos;) {
    at += mark.size();
    const std::size_t end = std::min(shown.find_first_of("\r\n", at), shown.size());
    if (end > at) lines.push_back(shown.substr(at, end - at));
  }
  return lines;
}

std::size_t letters(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

TEST(Terminal, DrawsThePathAndTheSpendOfTheMainCoefficient) {
  const std::string shown = slow_replay(ReplayWorld{2000}, 120, {"LANG=C.UTF-8"});
  EXPECT_THAT(shown, ContainsRegex("ETA [0-9]+:[0-9][0-9]  x -?[0-9.]+ [^ ]+  rho [0-9.]+"));
  EXPECT_THAT(shown, ::testing::AnyOf(HasSubstr("▁"), HasSubstr("▅"), HasSubstr("█")));
}

TEST(Terminal, DrawsInAsciiWhereThatIsAllThereIs) {
  const std::string shown = slow_replay(ReplayWorld{2000}, 120, {"LANG=C"});
  EXPECT_THAT(shown, ContainsRegex("  x -?[0-9.]+ [-_.=+*#@]+  rho [0-9.]+"));
  EXPECT_TRUE(std::ranges::all_of(shown, [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
}

TEST(Terminal, KeepsItsLineWithinANarrowOne) {
  const std::string shown = slow_replay(ReplayWorld{2000}, 40, {"LANG=C.UTF-8"});
  const std::vector<std::string> lines = drawn_lines(shown);
  EXPECT_FALSE(lines.empty());
  for (const std::string& line : lines) {
    EXPECT_LE(letters(line), 40U) << line;
    EXPECT_THAT(line, Not(ContainsRegex("ETA( [0-9]*:?[0-9]?)?$"))) << "a part that is cut";
  }
  EXPECT_THAT(shown, Not(HasSubstr("[=")));
  for (std::size_t at = shown.find("estimate"), end; at < shown.size(); at = end + 1) {
    end = std::min(shown.find('\n', at), shown.size());
    const std::string line = shown.substr(at, end - at);
    // Sentences below the table may wrap.
    if (line.starts_with("path") || line.starts_with("steps") || line.starts_with("rho")) break;
    EXPECT_LE(letters(line), 40U) << line;
  }
}

TEST(Terminal, DrawsNothingOverWhereTheCursorDoesNotMove) {
  EXPECT_THAT(slow_replay(ReplayWorld{2000}, 120, {"TERM=dumb"}), Not(HasSubstr("\x1b")));
}

TEST(Terminal, DrawsAPlan) {
  const TemporaryFolder folder;
  const std::string config = folder.write("plan.toml", example_config());
  const std::string coloured = shown_on_terminal({"plan", config, "--chart"}, 60, {"LANG=C.UTF-8"});
  EXPECT_THAT(coloured, HasSubstr("Predicted error over records"));
  EXPECT_THAT(coloured, HasSubstr("\x1b[36m●\x1b[0m the last iterate"));
  for (const auto& [variable, unicode] : {std::pair{"LANG=C.UTF-8", true}, std::pair{"LANG=C", false}}) {
    const std::string plain = shown_on_terminal({"plan", config, "--chart"}, 60, {variable, "NO_COLOR=1"});
    EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
    const std::string drawing = plain.substr(plain.find("Predicted error over records"));
    EXPECT_THAT(drawing, HasSubstr(unicode ? "│" : "|"));
    EXPECT_THAT(drawing, HasSubstr(unicode ? "● the last iterate" : "* the last iterate"));
    for (std::size_t at = 0, end; at < drawing.size(); at = end + 1) {
      end = std::min(drawing.find('\n', at), drawing.size());
      EXPECT_LE(letters(drawing.substr(at, end - at)), 60U + 1U) << drawing.substr(at, end - at);
    }
  }
}

TEST(Terminal, DrawsWhatAFolderReleased) {
  const ReplayWorld world;
  ASSERT_EQ(world.run({}).code, 0);
  const std::string shown =
      shown_on_terminal({"inspect", world.path("state"), "--chart"}, 70, {"LANG=C.UTF-8", "NO_COLOR="});
  EXPECT_THAT(shown, HasSubstr("world: x over the steps"));
  EXPECT_THAT(shown, HasSubstr("quoted estimate"));
  EXPECT_THAT(shown, HasSubstr("\x1b[36m")) << "an empty NO_COLOR does not count";
}

TEST(Terminal, TakesAFileForAChartByItsName) {
  const TemporaryFolder folder;
  const std::string config = folder.write("plan.toml", example_config());
  const CommandResult other = run_command(NUSTREAM_COMMAND, {"plan", config, "--chart", "plan.txt"}, std::nullopt);
  EXPECT_EQ(other.code, 64);
  EXPECT_THAT(other.err, HasSubstr("draws in the terminal"));
  const CommandResult before = run_command(NUSTREAM_COMMAND, {"plan", "--chart", config}, std::nullopt);
  EXPECT_EQ(before.code, 0) << before.err;
  EXPECT_THAT(before.out, HasSubstr("Predicted error over records"));
  const std::string picture = (folder.path() / "plan.svg").string();
  EXPECT_EQ(run_command(NUSTREAM_COMMAND, {"plan", "--chart", picture, config}, std::nullopt).code, 0);
  EXPECT_THAT(read_file(picture), HasSubstr("Predicted error over records"));
  EXPECT_EQ(run_command(NUSTREAM_COMMAND, {"plan", config, "--json", "--chart"}, std::nullopt).code, 64);
}

// A caller may close standard files. A folder's file that took the number of standard error would then get what is
// for the operator alone.
TEST(StandardFiles, ThatAreClosedAreNoFilesOfTheFolder) {
  const ReplayWorld world;
  const std::vector<std::string> folders{"none", "error", "output"};
  const std::vector<std::string> closed{"<&- >&- 2>&-", "2>&-", ">&-"};
  for (std::size_t i = 0; i < folders.size(); ++i) {
    std::string command = NUSTREAM_COMMAND;
    for (const std::string& argument : world.replay({"--to", "1000"}, folders[i])) command += " '" + argument + "'";
    const CommandResult run = run_command("/bin/sh", {"-c", command + ' ' + closed[i]});
    ASSERT_EQ(run.code, 0) << run.err;
    for (const char* const name : {"releases.jsonl", "ledger"}) {
      const std::string text = read_file(world.path(folders[i] + "/" + name));
      EXPECT_TRUE(text.starts_with("{\"format\":")) << closed[i] << ", " << name << ": " << text.substr(0, 80);
    }
    EXPECT_EQ(world.run({"--resume"}, folders[i]).code, 0) << closed[i];
  }
}

}  // namespace
}  // namespace nustream::tests
