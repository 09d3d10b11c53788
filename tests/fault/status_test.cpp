// `nustream replay` of a stream whose releases say whether the path has settled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "configured_command.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

/// Rows with y = x + noise; from record `turn` on, y = −x + noise.
std::string rows(int count, int turn) {
  std::mt19937_64 engine(3);
  std::normal_distribution<double> normal;
  std::string text = "x,y\n";
  for (int i = 0; i < count; ++i) {
    const double x = normal(engine);
    const double y = (i < turn ? x : -x) + 0.5 * normal(engine);
    text += std::to_string(x) + "," + std::to_string(y) + "\n";
  }
  return text;
}

std::string settings(const std::string& more) {
  return R"([stream]
name = "status"
input = "rows.csv"
[target]
column = "y"
[[features]]
column = "x"
[descent]
step_size = 0.02
clip_norm = 4
average = "tail"
average_from = 1000
[privacy]
rho = 1
delta = 1e-6
)" + more;
}

std::vector<std::string> releases_in(const TemporaryFolder& folder, const std::string& state = "state") {
  std::ifstream lines(folder.path() / state / "releases.jsonl");
  std::vector<std::string> all;
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  return all;
}

std::string verdict_of(const std::string& line) {
  simdjson::dom::parser parser;
  return std::string(parser.parse(line)["status"]["verdict"].get_string().value());
}

bool has_interval(const std::string& line) {
  simdjson::dom::parser parser;
  return parser.parse(line)["interval"].is_object();
}

const std::string batch_means = "[intervals]\nkind = \"batch-means\"\n";

TEST(Status, WithholdsIntervalsUntilThePathHasSettled) {
  const TemporaryFolder folder;
  folder.write("rows.csv", rows(20'000, 20'000));
  JsonOutput found = run_configured("replay", folder, settings(batch_means), {"--insecure-seed", "5"});
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  const std::vector<std::string> lines = releases_in(folder);
  EXPECT_EQ(verdict_of(lines.front()), "converging");
  EXPECT_FALSE(has_interval(lines.front()));
  EXPECT_EQ(verdict_of(lines.back()), "settled");
  EXPECT_TRUE(has_interval(lines.back()));
  for (const std::string& line : lines) EXPECT_EQ(has_interval(line), verdict_of(line) == "settled");
}

TEST(Status, SeesAStreamThatTurns) {
  const TemporaryFolder folder;
  folder.write("rows.csv", rows(20'000, 14'000));
  JsonOutput found = run_configured("replay", folder, settings(batch_means), {"--insecure-seed", "5"});
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  EXPECT_NE(verdict_of(releases_in(folder).back()), "settled");
  simdjson::dom::element intervals;
  EXPECT_NE(found.json["intervals"].get(intervals), simdjson::SUCCESS);
}

const std::string sandwich = "[intervals]\nkind = \"sandwich\"\nsecond_moment_clip = 4\nsquared_residual_clip = 4\n";

/// Replays `count` rows that turn at `turn` under settings with `more`, and returns the last release.
std::string last_release(int count, int turn, const std::string& more, const std::vector<std::string>& options = {}) {
  const TemporaryFolder folder;
  folder.write("rows.csv", rows(count, turn));
  std::vector<std::string> arguments{"--insecure-seed", "5"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const JsonOutput found = run_configured("replay", folder, settings(more), arguments);
  EXPECT_EQ(found.command.code, 0) << found.command.err;
  return releases_in(folder).back();
}

TEST(Status, StandsBesideASandwichUnlessItIsTurnedOff) {
  const std::string settled = last_release(20'000, 20'000, sandwich);
  EXPECT_EQ(verdict_of(settled), "settled");
  EXPECT_TRUE(has_interval(settled));
  const std::string turned = last_release(20'000, 14'000, sandwich);
  EXPECT_NE(verdict_of(turned), "settled");
  EXPECT_FALSE(has_interval(turned));
  const std::string off = last_release(20'000, 14'000, sandwich, {"--set", "release.status=false"});
  EXPECT_THAT(off, ::testing::Not(HasSubstr("\"status\":")));
  EXPECT_TRUE(has_interval(off));
}

const std::vector<std::string> sums{"--set", "model.estimator=moments",
                                    "--set", "moments.row_norm=4",
                                    "--set", "moments.residual_bound=6",
                                    "--set", "moments.stages=[{from=2000}]",
                                    "--set", "release.every=500",
                                    "--set", "intervals.kind=residuals",
                                    "--set", "privacy.rho=10"};

TEST(Status, StandsBesideIntervalsOfRunningSumsUnlessItIsTurnedOff) {
  const std::string settled = last_release(20'000, 20'000, "", sums);
  EXPECT_EQ(verdict_of(settled), "settled");
  EXPECT_TRUE(has_interval(settled));
  const std::string turned = last_release(20'000, 14'000, "", sums);
  EXPECT_EQ(verdict_of(turned), "drifting");
  EXPECT_FALSE(has_interval(turned));
  std::vector<std::string> off = sums;
  off.insert(off.end(), {"--set", "release.status=false"});
  EXPECT_THAT(last_release(20'000, 14'000, "", off), ::testing::Not(HasSubstr("\"status\":")));
}

TEST(Status, IsRefusedOfRunningSumsThatHaveNoIntervals) {
  const TemporaryFolder folder;
  folder.write("rows.csv", rows(100, 100));
  std::vector<std::string> asked = sums;
  asked.insert(asked.end(), {"--set", "intervals.kind=none", "--set", "release.status=true"});
  const JsonOutput found = run_configured("replay", folder, settings(""), asked);
  EXPECT_EQ(found.command.code, 78);
  EXPECT_THAT(found.command.err, HasSubstr("release.status"));
}

TEST(Status, IsToldWithoutIntervalsWhereItIsAskedFor) {
  const TemporaryFolder folder;
  folder.write("rows.csv", rows(20'000, 20'000));
  const JsonOutput found =
      run_configured("replay", folder, settings("[release]\nstatus = true\n"), {"--insecure-seed", "5"});
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  EXPECT_EQ(verdict_of(releases_in(folder).back()), "settled");
  EXPECT_THAT(releases_in(folder).back(), ::testing::Not(HasSubstr("\"interval\"")));
}

const std::vector<std::string> averages{"last", "tail", "exponential"};

/// Replays rows that turn at `turn` with an average and no intervals, and returns the releases.
std::vector<std::string> without_intervals(int turn, const std::string& average,
                                           const std::vector<std::string>& options = {}) {
  const TemporaryFolder folder;
  folder.write("rows.csv", rows(20'000, turn));
  std::vector<std::string> arguments{"--insecure-seed", "5", "--set", "descent.average=" + average};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const JsonOutput found = run_configured("replay", folder, settings(""), arguments);
  EXPECT_EQ(found.command.code, 0) << found.command.err;
  return releases_in(folder);
}

// Whatever is quoted, and though no interval is asked for, each release says whether the iterates lie still.
TEST(Status, IsToldByDefaultOfEveryDescent) {
  for (const std::string& average : averages) {
    const std::vector<std::string> lines = without_intervals(20'000, average);
    EXPECT_EQ(verdict_of(lines.front()), "converging") << average;
    EXPECT_EQ(verdict_of(lines.back()), "settled") << average;
    EXPECT_THAT(lines.back(), ::testing::Not(HasSubstr("\"interval\""))) << average;
    EXPECT_THAT(lines.back(), HasSubstr("\"swing\":")) << average;
    EXPECT_EQ(verdict_of(without_intervals(14'000, average).back()), "drifting") << average;
    for (const std::string& line : without_intervals(20'000, average, {"--set", "release.status=false"})) {
      EXPECT_THAT(line, ::testing::Not(HasSubstr("\"status\":"))) << average;
    }
  }
}

// Clipping holds such iterates back, and the noise of this budget is as large as the steps: nothing but the settings
// tells that the path is no answer.
TEST(Status, IsDivergedBeyondTheStabilityBound) {
  const std::vector<std::string> longer{"--set", "descent.step_size=3", "--set", "noise.nu=0.1"};
  for (const std::string& average : averages) {
    for (const std::string& line : without_intervals(20'000, average, longer)) {
      EXPECT_EQ(verdict_of(line), "diverged") << average;
    }
  }
  const std::string with_interval = last_release(20'000, 20'000, batch_means, longer);
  EXPECT_EQ(verdict_of(with_interval), "diverged");
  EXPECT_FALSE(has_interval(with_interval));
}

// The settings do not say that the feature has the size 10, so that steps of .2 are too long for it. Iterates of a
// large minibatch show it.
TEST(Status, SeesStepsThatAreTooLongForAFeatureOfUnknownSize) {
  const TemporaryFolder folder;
  std::mt19937_64 engine(4);
  std::normal_distribution<double> normal;
  std::string text = "x,y\n";
  for (int i = 0; i < 300'000; ++i) {
    const double x = 10 * normal(engine);
    text += std::to_string(x) + "," + std::to_string(0.1 * x + normal(engine)) + "\n";
  }
  folder.write("rows.csv", text);
  for (const auto& [step_size, is_told] : {std::pair{"0.2", true}, std::pair{"0.01", false}}) {
    const std::string state = (folder.path() / step_size).string();
    const JsonOutput found =
        run_configured("replay", folder, settings(""),
                       {"--insecure-seed", "5", "--set", std::string("descent.step_size=") + step_size, "--set",
                        "descent.average=last", "--set", "descent.minibatch=100", "--set", "privacy.rho=1000",
                        "--set", "state.directory=" + state});
    ASSERT_EQ(found.command.code, 0) << found.command.err;
    EXPECT_EQ(verdict_of(releases_in(folder, step_size).back()) == "diverged", is_told) << step_size;
  }
}

// The status is a function of what is released: where commits came must not show.
TEST(Status, DoesNotDependOnWhereCommitsFell) {
  const TemporaryFolder folder;
  folder.write("rows.csv", rows(20'000, 20'000));
  std::vector<std::vector<std::string>> runs;
  for (const std::string& intervals : {batch_means, std::string()}) {
    for (const char* records : {"311", "100000"}) {
      const std::string state = std::string("of-") + records + (intervals.empty() ? "-bare" : "");
      const JsonOutput found =
          run_configured("replay", folder, settings(intervals),
                         {"--insecure-seed", "5", "--set", std::string("state.commit_records=") + records, "--set",
                          "state.directory=" + (folder.path() / state).string()});
      ASSERT_EQ(found.command.code, 0) << found.command.err;
      runs.push_back(releases_in(folder, state));
    }
  }
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_EQ(runs[2], runs[3]);
}

TEST(Status, IsRefusedUnderACooldown) {
  const TemporaryFolder folder;
  folder.write("rows.csv", rows(100, 100));
  const JsonOutput found = run_configured(
      "replay", folder, settings("[release]\nstatus = true\n"),
      {"--set", "descent.average=last", "--set", "descent.horizon=100", "--set", "descent.cooldown=0.2"});
  EXPECT_EQ(found.command.code, 78);
  EXPECT_THAT(found.command.err, HasSubstr("release.status"));
}

}  // namespace
}  // namespace nustream::tests
