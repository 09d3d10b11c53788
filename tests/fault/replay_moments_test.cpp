// `nustream replay` of a model that is solved from running sums, as a child process: what it releases, how it goes on
// after stops, and where it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "replay_world.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string> solved{"--set", "model.estimator=moments",  "--set",  "moments.row_norm=4",
                                      "--set", "moments.residual_bound=4", "--quiet"};

std::vector<std::string> with(std::vector<std::string> more) {
  more.insert(more.begin(), solved.begin(), solved.end());
  return more;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class SolvedReplay : public ::testing::Test {
 protected:
  const ReplayWorld world{20'000};
  simdjson::dom::parser parser;

  simdjson::dom::element last_of(const std::string& state) {
    return parser.parse(lines_of(world.releases(state)).back());
  }
};

// y = 1 − 0.5x, and every 97th record is unusable: 19,794 of 20,000 count.
TEST_F(SolvedReplay, ReleasesTheLeastSquaresSoFarAfterEveryBatch) {
  const CommandResult result =
      world.run(with({"--insecure-seed", "3", "--set", "release.every=1000", "--set", "privacy.rho=10"}));
  ASSERT_EQ(result.code, 0) << result.err;
  const std::vector<std::string> lines = lines_of(world.releases());
  ASSERT_EQ(lines.size(), 20U);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const simdjson::dom::element release = parser.parse(lines[i]);
    EXPECT_EQ(release["step"].get_uint64().value(), i + 1);
    EXPECT_EQ(release["position"].get_uint64().value(), 1000 * (i + 1));
    EXPECT_EQ(release["moments"]["records"].get_uint64().value(), 1000 * (i + 1)) << "usable or not";
    EXPECT_EQ(release["moments"]["floored"].get_uint64().value(), 0U);
    EXPECT_TRUE(release["average"].is_null());
    EXPECT_NEAR(release["estimate"]["intercept"].get_double().value(), 1, 0.04);
    EXPECT_NEAR(release["estimate"]["x"].get_double().value(), -0.5, 0.04);
    EXPECT_LE(release["rho"].get_double().value(), 10);
  }
  EXPECT_NEAR(last_of("state")["estimate"]["x"].get_double().value(), -0.5, 0.01);
}

// A stop at any commit leaves no trace: a step that was open is read again, with the noise that is its own.
TEST_F(SolvedReplay, GoesOnFromAnyCommitAsIfItHadNotStopped) {
  const std::vector<std::string> stages{"--set", "moments.stages=[{from=5000, residual_bound=1.5}]",
                                        "--set", "intervals.kind=sandwich",
                                        "--set", "release.every=100",
                                        "--set", "state.commit_records=150",
                                        "--set", "state.commit_seconds=1e9"};
  std::vector<std::string> run = with(stages);
  for (const char* each : {"--insecure-seed", "4"}) run.emplace_back(each);
  ASSERT_EQ(world.run(run, "whole").code, 0);
  const std::string expected = world.releases("whole");
  ASSERT_EQ(lines_of(expected).size(), 200U);
  EXPECT_FALSE(last_of("whole")["interval"].is_null());
  std::vector<std::string> part = run;
  for (const char* each : {"--to", "7350"}) part.emplace_back(each);
  ASSERT_EQ(world.run(part, "cut").code, 0);
  EXPECT_EQ(lines_of(world.releases("cut")).size(), 73U) << "of a step that is not whole nothing is released";
  for (const char* to : {"7999", "12000", "20000"}) {
    part = run;
    for (const char* each : {"--resume", "--to", to}) part.emplace_back(each);
    const CommandResult resumed = world.run(part, "cut");
    ASSERT_EQ(resumed.code, 0) << resumed.err;
  }
  EXPECT_TRUE(world.releases("cut") == expected);
}

// The scale of x is a hundredth of its spread, as if it had been measured on records of another kind.
TEST_F(SolvedReplay, GrowsItsUnitsAndGoesOnFromAnyCommit) {
  std::vector<std::string> run = with({"--set", "features.0.scale=0.01", "--set", "moments.stages=growing"});
  for (const char* each : {"intervals.kind=residuals", "release.every=100", "state.commit_records=150",
                           "state.commit_seconds=1e9", "privacy.rho=10"}) {
    run.insert(run.end(), {"--set", each});
  }
  run.insert(run.end(), {"--insecure-seed", "4"});
  const CommandResult whole = world.run(run, "whole");
  ASSERT_EQ(whole.code, 0) << whole.err;
  const std::string expected = world.releases("whole");
  const simdjson::dom::element last = last_of("whole");
  const simdjson::dom::element grown = last["moments"]["grown"]["x"];
  EXPECT_GE(grown["factor"].get_double().value(), 32);
  EXPECT_LE(grown["factor"].get_double().value(), 256);
  EXPECT_GE(grown["times"].get_uint64().value(), 1U);
  EXPECT_NEAR(last["estimate"]["x"].get_double().value(), -0.5, 0.02);
  // Looks come after 1600, 3200, 6400 and 12,800 records.
  for (const char* to : {"1550", "1600", "1650", "3250", "7350", "20000"}) {
    std::vector<std::string> part = run;
    if (std::string(to) != "1550") part.emplace_back("--resume");
    part.insert(part.end(), {"--to", to});
    const CommandResult resumed = world.run(part, "cut");
    ASSERT_EQ(resumed.code, 0) << resumed.err;
  }
  EXPECT_TRUE(world.releases("cut") == expected);
  const CommandResult inspected =
      run_command(NUSTREAM_COMMAND, {"inspect", world.path("whole"), "--insecure-seed", "4"});
  EXPECT_THAT(inspected.out, HasSubstr("scales grew: x ("));
}

TEST_F(SolvedReplay, EndsAtTheNumberOfReleasesThatItsNoiseIsFor) {
  const CommandResult result = world.run(with({"--insecure-seed", "5", "--set", "moments.releases=7"}));
  EXPECT_NE(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("horizon"));
  EXPECT_EQ(lines_of(world.releases()).size(), 7U);
  EXPECT_LE(last_of("state")["rho"].get_double().value(), 0.5);
  EXPECT_GE(last_of("state")["rho"].get_double().value(), 0.5 * (1 - 1e-9));
}

TEST_F(SolvedReplay, RefusesAStateOfADescentAndTheOtherWayRound) {
  ASSERT_EQ(world.run({"--quiet", "--insecure-seed", "1"}, "descent").code, 0);
  const CommandResult solving = world.run(with({"--insecure-seed", "1", "--resume"}), "descent");
  EXPECT_EQ(solving.code, 65) << solving.err;
  EXPECT_THAT(solving.err, HasSubstr("settings"));
  ASSERT_EQ(world.run(with({"--insecure-seed", "1"}), "sums").code, 0);
  EXPECT_EQ(world.run({"--quiet", "--insecure-seed", "1", "--resume"}, "sums").code, 65);
  const CommandResult inspected =
      run_command(NUSTREAM_COMMAND, {"inspect", world.path("sums"), "--json", "--insecure-seed", "1"});
  ASSERT_EQ(inspected.code, 0) << inspected.err;
  EXPECT_EQ(parser.parse(inspected.out)["last_release"]["moments"]["records"].get_uint64().value(), 20'000U);
}

TEST_F(SolvedReplay, NamesWhatRunningSumsHave) {
  const std::vector<std::string> narrow{
      "--set", "model.estimator=moments",    "--set",           "moments.row_norm=4",
      "--set", "moments.residual_bound=0.1", "--insecure-seed", "1"};
  const CommandResult result = world.run(narrow);
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out + result.err, AllOf(HasSubstr(" residuals ("), Not(HasSubstr("gradients ("))));
}

TEST_F(SolvedReplay, SaysWhereNoiseHidesTheAnswer) {
  const CommandResult result = world.run(with({"--insecure-seed", "6", "--set", "privacy.rho=1e-9", "--json"}));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(parser.parse(result.out)["floored"].get_uint64().value(), 2U);
  const simdjson::dom::element release = last_of("state");
  EXPECT_EQ(release["moments"]["floored"].get_uint64().value(), 2U);
}

// What is released suffices to solve for other models; here it is solved once more for the estimate.
TEST_F(SolvedReplay, ReleasesTheSumsThatTheAnswerIsMadeOf) {
  ASSERT_EQ(world.run(with({"--insecure-seed", "7", "--set", "release.moments=true", "--set", "privacy.rho=5"})).code,
            0);
  const simdjson::dom::element release = last_of("state");
  const simdjson::dom::element sums = release["moments"]["sums"];
  ASSERT_EQ(sums["inputs"].get_uint64().value(), 2U);
  const auto number = [&](const char* key, std::size_t index) { return sums[key].at(index).get_double().value(); };
  const double a = number("second", 0);
  const double b = number("second", 1);
  const double c = number("second", 2);
  const double determinant = a * c - b * b;
  const double intercept = number("centre", 0) + (c * number("gap", 0) - b * number("gap", 1)) / determinant;
  const double slope = number("centre", 1) + (a * number("gap", 1) - b * number("gap", 0)) / determinant;
  EXPECT_NEAR(intercept, release["estimate"]["intercept"].get_double().value(), 1e-9);
  EXPECT_NEAR(slope, release["estimate"]["x"].get_double().value(), 1e-9);
  EXPECT_GT(sums["floor"].get_double().value(), 0);
  EXPECT_NEAR(a, 19'794, 500) << "usable records, with noise";
}

TEST_F(SolvedReplay, ForgetsWhatIsOlderThanItsMemory) {
  const std::vector<std::string> run = with({"--insecure-seed", "8", "--set", "moments.memory=2000", "--set",
                                             "privacy.rho=50", "--set", "moments.restage_every=1000"});
  ASSERT_EQ(world.run(run).code, 0);
  const simdjson::dom::element release = last_of("state");
  EXPECT_NEAR(release["estimate"]["x"].get_double().value(), -0.5, 0.05);
  EXPECT_EQ(release["moments"]["stage"].get_uint64().value(), 19U);
}

}  // namespace
}  // namespace nustream::tests
