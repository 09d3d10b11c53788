// `nustream estimate` of models that are solved from running sums: one pass over the table, what it costs and what it
// writes; and `nustream solve` of the sums that it released.
//
// Reference numbers: OLS of the bike file (statsmodels 0.15.0), as in estimate_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <simdjson.h>

#include "bike_columns.h"
#include "configured_command.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

/// Settings with so large a ρ that the noise is nothing.
std::string bike(const std::string& more = "") {
  return bike_columns() + R"([model]
estimator = "moments"
[moments]
row_norm = 8
residual_bound = 8
[privacy]
rho = 1e8
delta = 1e-6
)" + more;
}

JsonOutput estimate(const TemporaryFolder& folder, const std::string& config,
                    const std::vector<std::string>& options = {}) {
  return run_configured("estimate", folder, config, options);
}

std::vector<std::string> releases_in(const TemporaryFolder& folder) {
  std::ifstream lines(folder.path() / "state" / "releases.jsonl");
  std::vector<std::string> all;
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  return all;
}

void expect_least_squares(JsonOutput& found, double tolerance) {
  EXPECT_NEAR(found.value("estimate", "intercept"), 4.503175, tolerance);
  EXPECT_NEAR(found.value("estimate", "temp"), 2.821376, tolerance);
  EXPECT_NEAR(found.value("estimate", "hum"), -2.311532, tolerance);
  EXPECT_NEAR(found.value("estimate", "windspeed"), 0.423881, tolerance);
}

TEST(EstimateOfSums, IsLeastSquaresInOneReleaseOfOnePass) {
  const TemporaryFolder folder;
  JsonOutput found = estimate(folder, bike(), {"--compare-nonprivate"});
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  expect_least_squares(found, 1e-4);
  EXPECT_NEAR(found.for_operator["not_private"]["OLS"]["temp"].get_double().value(), 2.821376, 1e-6);
  EXPECT_EQ(found.json["steps"].get_uint64().value(), 1U);
  EXPECT_EQ(found.json["minibatch"].get_uint64().value(), 17'379U);
  EXPECT_NEAR(found.json["rho"].get_double().value(), 1e8, 1);
  EXPECT_NEAR(found.json["ledger_rho"].get_double().value(), 1e8, 1);
  EXPECT_THAT(releases_in(folder), SizeIs(1));
  EXPECT_LT(found.json["predicted_stddev"].get_double().value(), 1e-5);
}

// A budget that leaves no room for the only step ends the run as it ends a descent, with nothing spent.
TEST(EstimateOfSums, WithoutRoomForAStepReleasesNothing) {
  const TemporaryFolder folder;
  JsonOutput found = estimate(folder, bike("budget = 1\n"));
  EXPECT_EQ(found.command.code, 73) << found.command.err;
  EXPECT_THAT(found.command.err, HasSubstr("leaves no room for a single step"));
  EXPECT_THAT(releases_in(folder), SizeIs(0));
}

// Wang's ridge is 0 where the data are as definite as these are and the noise is nothing.
TEST(EstimateOfSums, ByAdaSspIsLeastSquaresWhereNoiseIsNothing) {
  const TemporaryFolder folder;
  JsonOutput found = estimate(folder, bike(), {"--set", "moments.solve=adassp"});
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  expect_least_squares(found, 1e-4);
  EXPECT_NEAR(found.json["ledger_rho"].get_double().value(), 1e8, 1);
  EXPECT_THAT(releases_in(folder), SizeIs(1));
  EXPECT_THAT(releases_in(folder).front(), HasSubstr(R"("floored":0,"ridge":0})"));
}

// The noise is larger than the data.
TEST(EstimateOfSums, ByAdaSspShowsItsRidge) {
  const TemporaryFolder folder;
  JsonOutput found = estimate(folder, bike(),
                              {"--set", "moments.solve=adassp", "--set", "privacy.rho=1e-7", "--insecure-seed", "5"});
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  const std::string release = releases_in(folder).front();
  EXPECT_THAT(release, HasSubstr(R"("ridge":)"));
  EXPECT_EQ(release.find(R"("ridge":0})"), std::string::npos) << release;
}

// There are three shares of ρ, as the plan, the ledger and the release say. Each is a third, but for what replace-one
// leaves unused.
TEST(EstimateOfSums, ByAdaSspChargesTheSmallestEigenvalue) {
  const TemporaryFolder folder;
  const auto plan = run_configured("plan", folder, bike("[estimate]\n"),
                                   {"--records", "17379", "--set", "moments.solve=adassp", "--set", "privacy.rho=3",
                                    "--set", "privacy.adjacency=zero-out"});
  ASSERT_EQ(plan.command.code, 0) << plan.command.err;
  std::size_t stages = 0;
  for (const auto stage : plan.json["stages"].get_array()) {
    EXPECT_NEAR(stage["rho"].get_double().value(), 1, 1e-9);
    ++stages;
  }
  EXPECT_EQ(stages, 3U);
  EXPECT_NEAR(plan.json["rho"].get_double().value(), 3, 1e-9);
  JsonOutput found = estimate(folder, bike(), {"--set", "moments.solve=adassp", "--set", "privacy.rho=3"});
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  EXPECT_NEAR(found.json["ledger_rho"].get_double().value(), 3, 1e-9);
}

TEST(EstimateOfSums, ByAdaSspIsOneReleaseOfAPlainLinearModel) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::vector<std::string>& more) {
    std::vector<std::string> options{"--set", "moments.solve=adassp"};
    for (const std::string& one : more) options.insert(options.end(), {"--set", one});
    const JsonOutput found = estimate(folder, bike(), options);
    EXPECT_EQ(found.command.code, 78) << more.front();
    EXPECT_THAT(found.command.err, HasSubstr("moments.solve")) << more.front();
  };
  refused({"release.every=1000"});
  refused({"privacy.protects=target"});
  refused({"release.every=1000", "moments.stages=[{from=5000}]", "intervals.kind=residuals"});
}

// Of 17,379 rows the fourth step takes 2,379; the ones that are missing count for nothing.
TEST(EstimateOfSums, TakesAsManyStepsAsRecordsFillAndRecentres) {
  const TemporaryFolder folder;
  const std::string stages = "[release]\nevery = 5000\n[intervals]\nkind = \"sandwich\"\n";
  JsonOutput found = estimate(folder, bike(stages), {"--set", "moments.stages=[{from=5000, residual_bound=6}]"});
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  expect_least_squares(found, 2e-3);
  EXPECT_EQ(found.json["steps"].get_uint64().value(), 4U);
  EXPECT_THAT(releases_in(folder), SizeIs(4));
  const double lower = found.json["intervals"]["lower"]["temp"].get_double().value();
  const double upper = found.json["intervals"]["upper"]["temp"].get_double().value();
  EXPECT_LT(lower, 2.821376);
  EXPECT_GT(upper, 2.821376);
  EXPECT_GT(upper - lower, 0.05) << "sampling is in it: the classic standard error is 0.041";
  EXPECT_LT(upper - lower, 0.5);
  EXPECT_LE(found.json["rho"].get_double().value(), 1e8);
}

TEST(EstimateOfSums, OnceMoreIsANewEpochThatIsAddedUp) {
  const TemporaryFolder folder;
  ASSERT_EQ(estimate(folder, bike()).command.code, 0);
  const JsonOutput again = estimate(folder, bike());
  EXPECT_NE(again.command.code, 0);
  EXPECT_THAT(again.command.err, HasSubstr("--new-epoch"));
  JsonOutput second = estimate(folder, bike(), {"--new-epoch"});
  ASSERT_EQ(second.command.code, 0) << second.command.err;
  EXPECT_NEAR(second.json["rho"].get_double().value(), 1e8, 1);
  EXPECT_NEAR(second.json["ledger_rho"].get_double().value(), 2e8, 1);
  JsonOutput resumed = estimate(folder, bike(), {"--resume"});
  ASSERT_EQ(resumed.command.code, 0) << resumed.command.err;
  EXPECT_NEAR(resumed.json["ledger_rho"].get_double().value(), 2e8, 1) << "a finished run takes no further step";
}

TEST(EstimateOfSums, StopsAtABudgetBeforeItIsCrossed) {
  const TemporaryFolder folder;
  const JsonOutput found =
      estimate(folder, bike("[release]\nevery = 1000\n"), {"--set", "privacy.budget=7e7", "--quiet"});
  EXPECT_EQ(found.command.code, 73) << found.command.err;
  const std::size_t released = releases_in(folder).size();
  EXPECT_GT(released, 0U);
  EXPECT_LT(released, 18U);
}

TEST(EstimateOfSums, RefusesWhatATableHasNot) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::vector<std::string>& settings, const char* said) {
    std::vector<std::string> options;
    for (const std::string& setting : settings) options.insert(options.end(), {"--set", setting});
    const JsonOutput found = estimate(folder, bike(), options);
    EXPECT_EQ(found.command.code, 78) << said << found.command.err;
    EXPECT_THAT(found.command.err, HasSubstr(said));
  };
  refused({"moments.memory=5000"}, "moments.memory");
  refused({"moments.releases=5"}, "moments.releases");
  refused({"moments.stages=[{from=5000}]"}, "release.every");
  refused({"moments.stages=[{from=20000}]", "release.every=1000"}, "moments.stages");
  refused({"release.every=17380"}, "release.every");
  refused({"release.every=0"}, "release.every");
  refused({"intervals.kind=sandwich"}, "intervals.kind");
  refused({"intervals.kind=runs"}, "intervals.kind");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "state")) << "nothing is begun";
}

TEST(PlanOfSums, OfATableSaysWhatOnePassLeaves) {
  const TemporaryFolder folder;
  JsonOutput plan =
      run_configured("plan", folder, bike("[estimate]\n"), {"--records", "17379", "--set", "privacy.rho=0.1"});
  ASSERT_EQ(plan.command.code, 0) << plan.command.err;
  EXPECT_EQ(plan.json["steps"].get_uint64().value(), 1U);
  EXPECT_EQ(plan.json["participations"].get_uint64().value(), 1U);
  EXPECT_NEAR(plan.json["rho"].get_double().value(), 0.1, 1e-12);
  // Replace-one with equal shares a: a + a/2 + a/16 = ρ; σ² = 1/(2a), Δ = 2, R_x·R_r = 64.
  const double of_target = 2 * 64 * std::sqrt(25.0 / 16 / (2 * 0.1)) / 17'379;
  EXPECT_NEAR(plan.json["moments"].at(0)["stddev"].get_double().value(), of_target, 1e-6 * of_target);
}

JsonOutput solve(const TemporaryFolder& folder, const std::string& config, const std::vector<std::string>& options) {
  return run_configured("solve", folder, config, options);
}

// Least squares of other models of the same rows follow from what is public already.
TEST(Solve, GivesSubsetsOtherTargetsAndRidge) {
  const TemporaryFolder folder;
  const std::string config = bike("[release]\nmoments = true\n");
  ASSERT_EQ(estimate(folder, config).command.code, 0);
  const std::string before = releases_in(folder).back();
  JsonOutput all = solve(folder, config, {});
  ASSERT_EQ(all.command.code, 0) << all.command.err;
  expect_least_squares(all, 1e-4);
  EXPECT_EQ(all.json["spent"].get_double().value(), 0);
  // The expected numbers are least squares by the file's normal equations: of log(cnt) on the intercept, temp and
  // hum, and of temp on the intercept, hum and windspeed.
  JsonOutput some = solve(folder, config, {"--features", "temp,hum"});
  ASSERT_EQ(some.command.code, 0) << some.command.err;
  EXPECT_NEAR(some.value("estimate", "temp"), 2.809631, 2e-4);
  EXPECT_NEAR(some.value("estimate", "hum"), -2.390329, 2e-4);
  EXPECT_NEAR(some.value("estimate", "intercept"), 4.639015, 2e-4);
  EXPECT_EQ(simdjson::dom::object(some.json["estimate"]).size(), 3U);
  JsonOutput other = solve(folder, config, {"--target", "temp"});
  ASSERT_EQ(other.command.code, 0) << other.command.err;
  EXPECT_NEAR(other.value("estimate", "hum"), -0.083466, 1e-4);
  EXPECT_NEAR(other.value("estimate", "windspeed"), -0.074583, 1e-4);
  JsonOutput ridge = solve(folder, config, {"--ridge", "17379"});
  ASSERT_EQ(ridge.command.code, 0) << ridge.command.err;
  EXPECT_NEAR(ridge.value("estimate", "temp"), 1.467617, 1e-4);
  EXPECT_EQ(releases_in(folder).back(), before);
  EXPECT_THAT(releases_in(folder), SizeIs(1)) << "nothing is written";
}

TEST(Solve, RefusesWhatTheReleaseDoesNotSay) {
  const TemporaryFolder folder;
  const std::string config = bike("[release]\nmoments = true\n");
  const JsonOutput none = solve(folder, config, {});
  EXPECT_EQ(none.command.code, 74) << none.command.err;
  ASSERT_EQ(estimate(folder, config).command.code, 0);
  const JsonOutput unknown = solve(folder, config, {"--features", "snow"});
  EXPECT_EQ(unknown.command.code, 78) << unknown.command.err;
  EXPECT_THAT(unknown.command.err, HasSubstr("temp, hum, windspeed"));
  const JsonOutput model = solve(folder, config, {"--set", "target.transform=sqrt"});
  EXPECT_EQ(model.command.code, 65) << model.command.err;
  std::string newer = releases_in(folder).back();
  newer.replace(newer.find(":1,"), 3, ":2,");
  const JsonOutput later = solve(folder, config, {"--release", folder.write("later.jsonl", newer)});
  EXPECT_EQ(later.command.code, 65) << later.command.err;
  EXPECT_THAT(later.command.err,
              HasSubstr("later.jsonl: its last line is a release of format 2; this version reads"));
  const TemporaryFolder without;
  ASSERT_EQ(estimate(without, bike()).command.code, 0);
  const JsonOutput hidden = solve(without, bike(), {});
  EXPECT_EQ(hidden.command.code, 65) << hidden.command.err;
  EXPECT_THAT(hidden.command.err, HasSubstr("release.moments = true"));
}

}  // namespace
}  // namespace nustream::tests
