// Each bug of tests/planted/*.patch is planted alone, and what is said to catch it has to fail; without the bug the
// same has to pass. A bug that nothing catches means that a test is missing.
//
// Audits draw fresh keys. Under a bug their bounds of μ lie five standard errors or more above the claim (seen in ten
// audits of each), so one of these audits fails to show its bug less than once in a hundred thousand runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bugs.h"
#include "campaign.h"
#include "command.h"
#include "example_config.h"
#include "planted_names.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// This program may be run as one shard of several. The programs that it starts inherit its environment, and have to
/// run all of what they are asked for.
class StartsWholePrograms : public testing::Environment {
  void SetUp() override {
    for (const char* variable : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX"}) ::unsetenv(variable);
  }
};
[[maybe_unused]] const testing::Environment* const whole_programs =
    testing::AddGlobalTestEnvironment(new StartsWholePrograms);

/// The bugs that this run plants: those that only a broker shows belong to the campaign.
std::vector<PlantedBug> of_this_run(std::span<const PlantedBug> all) {
  std::vector<PlantedBug> bugs;
  for (const PlantedBug& bug : all) {
    if (bug.caught != Catch::on_a_broker || campaign()) bugs.push_back(bug);
  }
  return bugs;
}
std::vector<PlantedBug> bugs_to_plant() {
  return of_this_run(planted_bugs());
}
std::vector<PlantedBug> to_catch_once_more() {
  return of_this_run(further_catchers());
}

std::string audited_config(std::string_view model) {
  if (model == "instruments") return two_stage_config("clip_norm = 0.7");
  if (model == "runs") return runs_config();
  if (model == "moments") return moments_config();
  return model == "sandwich" ? sandwich_config() : example_config();
}

CommandResult run_audit(const PlantedBug& bug, const std::vector<std::string>& variables) {
  const TemporaryFolder folder;
  std::vector<std::string> arguments{"audit", folder.write("audit.toml", audited_config(bug.program))};
  std::istringstream words{bug.by};
  for (std::string word; words >> word;) {
    if (word.find('=') != std::string::npos) arguments.emplace_back("--set");
    arguments.push_back(word);
  }
  return run_command(NUSTREAM_PLANTED_COMMAND, arguments, {}, variables);
}

/// Runs what is said to catch `bug`, with the bug or without it. The runs use twins of the test and of the commands
/// that it calls, which are compiled with the patches, where there are such twins.
CommandResult run_catcher(const PlantedBug& bug, bool planted) {
  std::vector<std::string> variables{"NUSTREAM_PLANTED_PROGRAMS=1", "NUSTREAM_SIMULATION_HISTORIES=200",
                                     "NUSTREAM_COUPLING_PAIRS=6000"};
  if (planted) variables.push_back("NUSTREAM_PLANT=" + bug.name);
  if (bug.caught == Catch::by_audit) return run_audit(bug, variables);
  const std::string program = NUSTREAM_PROGRAMS "/" + bug.program;
  const std::string twin = program + "_planted";
  return run_command(std::filesystem::exists(twin) ? twin : program, {"--gtest_filter=" + bug.by}, {}, variables);
}

class PlantedBugs : public ::testing::TestWithParam<PlantedBug> {};

TEST_P(PlantedBugs, AreCaught) {
  const CommandResult result = run_catcher(GetParam(), true);
  switch (GetParam().caught) {
    case Catch::by_audit:
      EXPECT_EQ(result.code, 70) << result.err;
      EXPECT_THAT(result.out, HasSubstr("THE CLAIM DOES NOT HOLD"));
      return;
    case Catch::by_contract:
      EXPECT_EQ(result.code, 128 + SIGABRT) << result.out;
      EXPECT_THAT(result.err, HasSubstr("contract violated"));
      return;
    default:
      // A filter without tests, a crash or a skipped test does not catch a bug, although each of them ends with an
      // error.
      EXPECT_EQ(result.code, 1) << result.out << result.err;
      EXPECT_THAT(result.out, HasSubstr("[  FAILED  ]"));
  }
}

class Catchers : public PlantedBugs {};

TEST_P(Catchers, PassWithoutTheBug) {
  const CommandResult result = run_catcher(GetParam(), false);
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("[  PASSED  ]"), Not(HasSubstr("[  PASSED  ] 0 tests"))));
  EXPECT_THAT(result.out, Not(HasSubstr("SKIPPED")));
}

// Without this test, whatever ends with 70 would count as a catch. Each of an honest audit's two bounds exceeds its
// claim at most once in a thousand times, so two of these audits do so together once in two thousand runs.
TEST(AuditsThatCatch, FindNothingWithoutTheBug) {
  int exceeded = 0;
  std::vector<PlantedBug> bugs = bugs_to_plant();
  bugs.insert(bugs.end(), further_catchers().begin(), further_catchers().end());
  for (const PlantedBug& bug : bugs) {
    if (bug.caught != Catch::by_audit) continue;
    const CommandResult result = run_catcher(bug, false);
    if (result.code == 70) ++exceeded;
    EXPECT_TRUE(result.code == 0 || result.code == 70) << result.err;
    EXPECT_THAT(result.out, ::testing::AnyOf(HasSubstr("the claim holds"), HasSubstr("THE CLAIM DOES NOT HOLD")));
  }
  EXPECT_LE(exceeded, 1);
}

/// One bug for each catcher. Those that audits catch are tested above.
std::vector<PlantedBug> one_for_each_catcher() {
  std::vector<PlantedBug> bugs;
  std::set<std::pair<std::string, std::string>> seen;
  const auto add = [&](const PlantedBug& bug) {
    if (bug.caught == Catch::by_audit) return;
    if (seen.emplace(bug.program, bug.by).second) bugs.push_back(bug);
  };
  std::ranges::for_each(bugs_to_plant(), add);
  std::ranges::for_each(to_catch_once_more(), add);
  return bugs;
}

std::string name_of(const ::testing::TestParamInfo<PlantedBug>& info) {
  std::string name = info.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
}

std::string name_and_program(const ::testing::TestParamInfo<PlantedBug>& info) {
  return name_of(info) + "_" + info.param.program;
}

INSTANTIATE_TEST_SUITE_P(Of, PlantedBugs, ::testing::ValuesIn(bugs_to_plant()), name_of);
INSTANTIATE_TEST_SUITE_P(Of, Catchers, ::testing::ValuesIn(one_for_each_catcher()), name_and_program);
INSTANTIATE_TEST_SUITE_P(Also, PlantedBugs, ::testing::ValuesIn(to_catch_once_more()), name_and_program);

class PrivateStep : public PlantedBugs {};

// These bugs sit in the definition of the private step (src/descent/private_step.h). If the test of a kernel, loop or
// moment passes all the same, then this user clips, rounds or adds noise by a copy of its own.
TEST_P(PrivateStep, HasOneDefinitionForEveryKernelLoopAndMoment) {
  const CommandResult result = run_catcher(GetParam(), true);
  EXPECT_EQ(result.code, 1) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("[  FAILED  ]"));
  EXPECT_THAT(result.out, Not(HasSubstr("[       OK ]")));
}

PlantedBug in_the_private_step(std::string name, std::string tests) {
  return {std::move(name), "", "", Catch::by_test, "descent_test", std::move(tests)};
}

INSTANTIATE_TEST_SUITE_P(
    Of, PrivateStep,
    ::testing::Values(in_the_private_step("clip-rounds-outward", "*EveryClip.IsTheDefinitionToTheUnit/*"),
                      in_the_private_step("clip-after-the-noise", "*EveryClip.IsNeverLongerThanTheClipNorm/*"),
                      in_the_private_step("noise-is-left-out", "*EveryStep.AddsItsNoiseAsIntegers/*")),
    name_of);

}  // namespace
}  // namespace nustream::tests
