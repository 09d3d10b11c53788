// A folder whose state or ledger is lost, under settings that are "private": every refusal ends with a command that
// goes on when it is typed, and what was spent before counts in what follows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <simdjson.h>

#include "command.h"
#include "normal_table.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// One run under "private" settings, which has spent rho = 1.
class LostMeasuring {
 public:
  explicit LostMeasuring(std::string command) : command_(std::move(command)) {
    folder_.write("table.csv", normal_table());
    config_ =
        folder_.write("settings.toml",
                      "[stream]\nname = \"t\"\ninput = \"table.csv\"\nformat = \"csv\"\n"
                      "[[features]]\ncolumn = \"a\"\ncenter = \"private\"\nscale = \"private\"\n"
                      "[target]\ncolumn = \"y\"\n[model]\nloss = \"linear\"\n[noise]\nnu = 0.01\n"
                      "[descent]\nclip_norm = \"private\"\nstep_size = \"private\"\nstart = \"private\"\n" +
                          std::string(command_ == "estimate" ? "[estimate]\nsteps = 5\n" : "") +
                          "[privacy]\nrho = 1\ndelta = 1e-6\nadjacency = \"zero-out\"\n[state]\ndirectory = \"" +
                          state().string() + "\"\nkey_directory = \"" + (folder_.path() / "keys").string() + "\"\n");
    const CommandResult first = run({"--quiet"});
    EXPECT_EQ(first.code, 0) << first.err;
  }
  [[nodiscard]] std::filesystem::path state() const { return folder_.path() / "it's here"; }
  [[nodiscard]] CommandResult run(std::vector<std::string> options) const {
    options.insert(options.begin(), {command_, config_});
    return run_command(NUSTREAM_COMMAND, options);
  }
  [[nodiscard]] double total() const {
    simdjson::dom::parser parser;
    const CommandResult shown = run_command(NUSTREAM_COMMAND, {"inspect", state().string(), "--json"});
    EXPECT_EQ(shown.code, 0) << shown.err;
    return parser.parse(shown.out)["total_rho"].get_double().value();
  }

 private:
  TemporaryFolder folder_;
  std::string command_;
  std::string config_;
};

/// Types the command that the message names.
CommandResult typed(const std::string& message) {
  const std::string before = "with: nustream";
  const std::size_t begin = message.find(before);
  const std::size_t end = message.find("; or, for other records");
  EXPECT_TRUE(begin != std::string::npos && end != std::string::npos) << message;
  const std::size_t arguments = begin + before.size();
  return run_command("/bin/sh", {"-c", NUSTREAM_COMMAND + message.substr(arguments, end - arguments)});
}

struct Loss {
  const char* name;
  std::function<void(const std::filesystem::path& state)> happens;
};

const std::vector<Loss> losses{
    {"no state", [](const auto& state) { std::filesystem::remove(state / "state"); }},
    {"a state that was cut",
     [](const auto& state) {
       std::filesystem::resize_file(state / "state", std::filesystem::file_size(state / "state") - 1);
     }},
    {"an empty state", [](const auto& state) { std::filesystem::resize_file(state / "state", 0); }},
    {"neither state nor ledger",
     [](const auto& state) {
       std::filesystem::remove(state / "state");
       std::filesystem::remove(state / "ledger");
     }},
};

TEST(MeasuredAndLost, TheRefusalEndsWithACommandThatGoesOnAndCountsBoth) {
  for (const char* const command : {"replay", "estimate"}) {
    for (const Loss& loss : losses) {
      SCOPED_TRACE(std::string(command) + " over " + loss.name);
      const LostMeasuring world(command);
      loss.happens(world.state());
      const CommandResult resumed = world.run({"--resume"});
      EXPECT_EQ(resumed.code, 65);
      const CommandResult refused = world.run({"--new-epoch"});
      EXPECT_EQ(refused.code, 65);
      for (const std::string& message : {resumed.err, refused.err}) {
        EXPECT_THAT(message, AllOf(HasSubstr(world.state().string() + ": "), HasSubstr("--set features.0.center="),
                                   HasSubstr("with the numbers that were measured"), Not(HasSubstr("--state"))));
      }
      const CommandResult went_on = typed(refused.err);
      EXPECT_EQ(went_on.code, 0) << refused.err << went_on.err;
      EXPECT_NEAR(world.total(), 2, 1e-9);
    }
  }
}

// Nothing in the folder tells the values any more. The witness still tells what was spent.
TEST(MeasuredAndLost, WithoutReleasesAPersonGivesTheNumbersAndTheWitnessTellsTheSpend) {
  const LostMeasuring world("replay");
  std::filesystem::remove_all(world.state());
  for (const std::vector<std::string>& options : {std::vector<std::string>{}, {"--new-epoch"}}) {
    const CommandResult refused = world.run(options);
    EXPECT_EQ(refused.code, 65);
    EXPECT_THAT(refused.err,
                AllOf(HasSubstr("the ledger is gone"), HasSubstr("put numbers in the place of \"private\""),
                      HasSubstr("--new-epoch --from 0; or, for other records, name another state.directory"),
                      Not(HasSubstr("--state"))));
  }
  const CommandResult went_on = world.run({"--set", "features.0.center=0", "--set", "features.0.scale=1", "--set",
                                           "descent.clip_norm=3", "--set", "descent.step_size=0.01", "--set",
                                           "descent.start=[0, 0]", "--new-epoch", "--from", "0", "--quiet"});
  EXPECT_EQ(went_on.code, 0) << went_on.err;
  EXPECT_NEAR(world.total(), 2, 1e-9);
}

}  // namespace
}  // namespace nustream::tests
