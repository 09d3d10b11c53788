// Epochs of one folder under different promises: what is charged, what is refused, and what is shown as whose.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include "command.h"
#include "replay_world.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

double number(const CommandResult& result, const char* name) {
  simdjson::dom::parser parser;
  const simdjson::dom::element json = parser.parse(result.out);
  return json[name].get_double().value();
}

// Two zero-outs after each other are four times as dear.
TEST(Promises, AZeroOutEpochIsChargedFourfoldWhereReplacementsAreAskedAbout) {
  const ReplayWorld world;
  ASSERT_EQ(world.run({}).code, 0);
  const std::vector<std::string> replacing{"--new-epoch", "--from", "0", "--set", "privacy.adjacency=replace-one"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), replacing.begin(), replacing.end());
    return world.run(more);
  };
  EXPECT_EQ(with({"--set", "privacy.budget=2.01"}).code, 73) << "2 are spent, and .01 pays for a few steps";
  const CommandResult second = with({"--json"});
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_GT(number(second, "ledger_rho"), 2.5 - 1e-9);
  EXPECT_LT(number(second, "ledger_rho"), 2.51 + 1e-9);
  simdjson::dom::parser parser;
  const CommandResult inspected = run_command(NUSTREAM_COMMAND, {"inspect", world.path("state"), "--json"});
  const simdjson::dom::element ledger = parser.parse(inspected.out)["ledger"];
  EXPECT_EQ(std::string_view(ledger.at(0)["adjacency"]), "zero-out");
  EXPECT_EQ(std::string_view(ledger.at(1)["adjacency"]), "replace-one");
}

TEST(Promises, AReplacementEpochCostsAZeroOutNoMore) {
  const ReplayWorld world;
  ASSERT_EQ(world.run({"--set", "privacy.adjacency=replace-one"}).code, 0);
  const CommandResult second = world.run({"--new-epoch", "--from", "0", "--json"});
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_NEAR(number(second, "ledger_rho"), 1.0, 1e-9);
}

TEST(Promises, ThatProtectedTargetsSayNothingOfWholeRecords) {
  const TemporaryFolder folder;
  folder.write("rows.csv", "z,x,y\n1,2,3\n2,1,4\n-1,0,2\n");
  const std::string config = folder.write("stream.toml", R"([stream]
name = "instruments"
input = "rows.csv"
[target]
column = "y"
[[instruments]]
column = "z"
[[endogenous]]
column = "x"
[descent]
step_size = 0.05
clip_norm = 2
[first_stage]
step_size = 0.05
private = false
[privacy]
protects = "target"
rho = 1
delta = 1e-6
[noise]
nu = 0.01
)");
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"replay", config, "--set", "state.directory=" + (folder.path() / "state").string()});
    return run_command(NUSTREAM_COMMAND, more);
  };
  const CommandResult first = run({});
  ASSERT_EQ(first.code, 0) << first.err;
  const std::string before = read_file(folder.path() / "state" / "releases.jsonl");
  const CommandResult whole = run({"--new-epoch", "--from", "0", "--set", "privacy.protects=record", "--set",
                                   "first_stage.private=true", "--set", "first_stage.clip_norm=2"});
  EXPECT_EQ(whole.code, 78);
  EXPECT_THAT(whole.err, AllOf(HasSubstr("privacy.protects"), HasSubstr("epoch 0")));
  EXPECT_TRUE(read_file(folder.path() / "state" / "releases.jsonl") == before);
  EXPECT_EQ(run({"--new-epoch", "--from", "0"}).code, 0);
}

// An epoch that has released nothing has no estimate. The folder's last estimate cost what its own epoch spent.
TEST(Promises, AnEarlierEpochsEstimateIsNotShownUnderThisOnesEpsilon) {
  const ReplayWorld world;
  ASSERT_EQ(world.run({}).code, 0);
  const std::vector<std::string> slight{"--set", "privacy.rho=0.001",    "--set", "release.every=100000",
                                        "--set", "privacy.budget=0.5005"};
  std::vector<std::string> begin = slight;
  begin.insert(begin.end(), {"--new-epoch", "--from", "0"});
  ASSERT_EQ(world.run(begin).code, 73);
  std::vector<std::string> resume = slight;
  resume.insert(resume.end(), {"--resume", "--json"});
  const CommandResult result = world.run(resume);
  EXPECT_EQ(result.code, 73) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("\"epoch\":1"), Not(HasSubstr("\"estimate\""))));
}

TEST(Promises, TheCommandThatIsRecommendedIsOne) {
  const ReplayWorld world(500);
  ASSERT_EQ(world.run({"--passes", "2", "--from", "0"}).code, 0);
  const CommandResult nothing = world.run({"--passes", "2", "--from", "0", "--resume"});
  const std::size_t begin = nothing.err.find("nustream replay");
  ASSERT_NE(begin, std::string::npos) << nothing.err;
  const std::string line = nothing.err.substr(begin + std::string("nustream").size());
  const CommandResult taken = run_command("/bin/sh", {"-c", NUSTREAM_COMMAND + line});
  EXPECT_EQ(taken.code, 0) << taken.err;
}

TEST(Promises, APlanOfSeveralPassesCountsTheMinibatchesAcrossThem) {
  const ReplayWorld world(1999);
  const CommandResult plan = run_command(NUSTREAM_COMMAND, {"plan", world.config(), "--records", "1999", "--passes",
                                                            "3", "--set", "descent.minibatch=1000", "--json"});
  const CommandResult run = world.run({"--passes", "3", "--set", "descent.minibatch=1000", "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("\"steps\":5,"));
  EXPECT_THAT(plan.out, HasSubstr("\"steps\":5,"));
}

}  // namespace
}  // namespace nustream::tests
