// `nustream estimate` over settings that are measured first is killed at every named place of its commits. Nothing is
// measured twice, and what was spent is in the ledger once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <simdjson.h>

#include "command.h"
#include "journal/failpoint.h"
#include "normal_table.h"
#include "random_kills.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

class KilledMeasuring : public ::testing::Test {
 protected:
  void SetUp() override {
    folder.write("table.csv", normal_table());
    config = folder.write("settings.toml",
                          "[stream]\nname = \"t\"\ninput = \"table.csv\"\nformat = \"csv\"\n"
                          "[[features]]\ncolumn = \"a\"\ncenter = \"private\"\nscale = \"private\"\n"
                          "[target]\ncolumn = \"y\"\n[model]\nloss = \"linear\"\n"
                          "[descent]\nclip_norm = \"private\"\nstep_size = \"private\"\n[estimate]\nsteps = 5\n"
                          "[privacy]\nrho = 2\ndelta = 1e-6\nadjacency = \"zero-out\"\n[state]\nkey_directory = \"" +
                              (folder.path() / "keys").string() + "\"\n");
  }
  [[nodiscard]] std::vector<std::string> arguments(const std::string& state,
                                                   const std::vector<std::string>& options = {}) const {
    std::vector<std::string> all{"estimate", config, "--json", "--set",
                                 "state.directory=" + (folder.path() / state).string()};
    all.insert(all.end(), options.begin(), options.end());
    return all;
  }
  /// Runs once more after the kill, whatever the folder holds. The folder then has one measuring and one run, and
  /// their ρ.
  void expect_one_of_each(const std::string& state) const {
    const bool has_state = std::filesystem::exists(folder.path() / state / "state");
    const CommandResult last =
        run_command(NUSTREAM_COMMAND,
                    arguments(state, has_state ? std::vector<std::string>{"--resume"} : std::vector<std::string>{}));
    ASSERT_EQ(last.code, 0) << state << ": " << last.err;
    const CommandResult shown =
        run_command(NUSTREAM_COMMAND, {"inspect", (folder.path() / state).string(), "--json"});
    ASSERT_EQ(shown.code, 0) << shown.err;
    simdjson::dom::parser parser;
    const auto json = parser.parse(shown.out);
    EXPECT_EQ(json["ledger"].get_array().size(), 2U) << state;
    EXPECT_NEAR(json["total_rho"].get_double().value(), 2, 1e-9) << state;
  }

  const TemporaryFolder folder;
  std::string config;
};

TEST_F(KilledMeasuring, AtEveryNamedPlaceSpendsOnce) {
  int reached = 0;
  for (const std::string_view place : journal::failpoints) {
    if (place.find("rejects") != std::string_view::npos) continue;  // no rejects are written
    for (const char* time : {":1", ":2"}) {                         // in the measuring's commit, and in the run's
      const std::string state = std::string(place) + time[1];
      const CommandResult result =
          run_command(NUSTREAM_FAULTY, arguments(state), {}, {"NUSTREAM_FAILPOINT=" + std::string(place) + time});
      reached += result.code == killed ? 1 : 0;
      if (result.code == killed) {
        EXPECT_EQ(result.out, "") << place << ": shown before the run's end";
      }
      ASSERT_NO_FATAL_FAILURE(expect_one_of_each(state)) << place << time;
    }
  }
  EXPECT_GE(reached, 12);
}

// The run behind a measuring stands for a resume: it is not begun over an older copy of the folder.
TEST_F(KilledMeasuring, AnOlderCopyThatHasOnlyMeasuredIsRefused) {
  const auto copied = std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks;
  for (const char* const command : {"estimate", "replay"}) {
    const std::string state = (folder.path() / command).string();
    const std::string copy = state + ".copy";
    std::vector<std::string> typed = arguments(command, {"--set", "noise.nu=0.01"});
    typed.front() = command;
    ASSERT_EQ(run_command(NUSTREAM_FAULTY, typed, {}, {"NUSTREAM_FAILPOINT=after-seal:2"}).code, killed) << command;
    std::filesystem::copy(state, copy, copied);
    typed.emplace_back("--resume");
    const CommandResult went_on = run_command(NUSTREAM_COMMAND, typed);
    ASSERT_EQ(went_on.code, 0) << went_on.err;
    std::filesystem::remove_all(state);
    std::filesystem::copy(copy, state, copied);
    const CommandResult refused = run_command(NUSTREAM_COMMAND, typed);
    EXPECT_EQ(refused.code, 65) << command;
    EXPECT_NE(refused.err.find("older state"), std::string::npos) << refused.err;
    const CommandResult shown = run_command(NUSTREAM_COMMAND, {"inspect", state, "--json"});
    simdjson::dom::parser parser;
    EXPECT_EQ(parser.parse(shown.out)["ledger"].get_array().size(), 1U) << "nothing is begun";
  }
}

}  // namespace
}  // namespace nustream::tests
