// `nustream estimate` end to end: real tables against reference fits, every iterate released, spends that add up.
//
// Reference numbers: tests/golden/lane_fits_test.cpp (statsmodels 0.15.0), and the OLS of the retail and bike files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <simdjson.h>

#include "bike_estimate.h"
#include "command.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

const std::optional<std::string> no_input;

CommandResult run_nustream(const std::vector<std::string>& arguments) {
  return run_command(NUSTREAM_COMMAND, arguments, no_input);
}

// What is not private is told in the operator's file, or not at all.
TEST(Estimate, ComparisonsStandInTheOperatorsFileAlone) {
  const TemporaryFolder folder;
  const std::string config = folder.write("bike.toml", bike());
  const CommandResult refused =
      run_command(NUSTREAM_COMMAND, {"estimate", config, "--json", "--compare-nonprivate", "--set",
                                     "state.directory=" + (folder.path() / "refused").string()});
  EXPECT_EQ(refused.code, 64) << refused.err;
  EXPECT_NE(refused.err.find("--operator-json"), std::string::npos) << refused.err;
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "refused"));
  const JsonOutput found = estimate(folder, bike(), {"--compare-nonprivate"});
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  for (const char* word : {"not_private", "operator", "OLS", "rejected"}) {
    EXPECT_EQ(found.command.out.find(word), std::string::npos) << word;
  }
}

// OLS of the same columns is 4.503175, 2.821376, −2.311532, 0.423881.
TEST(Estimate, ArrivesAtLeastSquaresWhereNoiseIsNothing) {
  const TemporaryFolder folder;
  JsonOutput found = estimate(folder, bike(), {"--compare-nonprivate"});
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  EXPECT_NEAR(found.value("estimate", "intercept"), 4.503175, 2e-3);
  EXPECT_NEAR(found.value("estimate", "temp"), 2.821376, 2e-3);
  EXPECT_NEAR(found.value("estimate", "hum"), -2.311532, 2e-3);
  EXPECT_NEAR(found.value("estimate", "windspeed"), 0.423881, 2e-3);
  EXPECT_NEAR(found.for_operator["not_private"]["OLS"]["temp"].get_double().value(), 2.821376, 1e-6);
  EXPECT_FALSE(found.for_operator["not_private"]["private"].get_bool().value());
  EXPECT_FALSE(found.json["private"].get_bool().value());
  EXPECT_EQ(lines_in((folder.path() / "state") / "releases.jsonl"), 200U);
}

// The bundled stream is read as a table, whose OLS is 1.987337, −0.529010.
TEST(Estimate, ArrivesAtLeastSquaresOfTheRetailTable) {
  const TemporaryFolder folder;
  JsonOutput found = estimate(folder, "[stream]\nname = \"retail\"\ninput = \"" + std::string(NUSTREAM_ROOT_DIR) +
                                          R"(/examples/retail/online_retail_events.csv.gz"
[target]
column = "quantity"
transform = "log"
center = 1.5
[[features]]
column = "unit_price"
transform = "log"
center = 0.7
[descent]
step_size = 0.5
clip_norm = 1000
[release]
every = 60
[privacy]
rho = 1e9
delta = 1e-6
[estimate]
steps = 60
)");
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  EXPECT_NEAR(found.value("estimate", "intercept"), 1.987337, 1e-4);
  EXPECT_NEAR(found.value("estimate", "log(unit_price)"), -0.529010, 1e-4);
}

// More steps are not always worse: after a few of them most of the start is left. The suggested number is the best of
// all that are shown, and of its neighbours.
TEST(Estimate, PlansNoiseAndBiasTogether) {
  const TemporaryFolder folder;
  const std::string file = folder.write("estimate.toml", bike());
  const auto plan_of = [&](const std::string& steps) {
    return JsonOutput(
        run_nustream({"plan", file, "--json", "--records", "17379", "--set", "privacy.rho=0.5", "--set",
                      "descent.clip_norm=4", "--set", "descent.step_size=0.1", "--set", "plan.distance=2", "--set",
                      "plan.residual=1", "--set", "intervals.kind=none", "--set", "estimate.steps=" + steps}));
  };
  const auto number = [](JsonOutput& plan, std::size_t i, const char* key) {
    return plan.json["predicted_stddev"].at(i)[key].get_double().value();
  };
  JsonOutput plan = plan_of("16");
  ASSERT_EQ(plan.command.code, 0) << plan.command.err;
  for (std::size_t i = 0; i + 1 < 5; ++i) {
    EXPECT_LT(number(plan, i, "stddev"), number(plan, i + 1, "stddev"));
    EXPECT_GT(number(plan, i, "start_left"), number(plan, i + 1, "start_left"));
  }
  EXPECT_NEAR(number(plan, 2, "start_left"), std::pow(0.95, 16), 1e-12);
  EXPECT_GT(number(plan, 0, "error"), 1);                         // after 4 steps
  EXPECT_LT(number(plan, 4, "error"), number(plan, 0, "error"));  // after 64 steps
  const double best = plan.json["suggested_steps_error"].get_double().value();
  for (std::size_t i = 0; i < 5; ++i) EXPECT_LE(best, number(plan, i, "error"));
  EXPECT_GT(plan.json["clip_norm_without_clipping"].get_double().value(), 4);
  const std::uint64_t steps = plan.json["suggested_steps"].get_uint64().value();
  JsonOutput at_best = plan_of(std::to_string(steps));
  EXPECT_DOUBLE_EQ(number(at_best, 2, "error"), best);
  for (const std::uint64_t other : {steps - 1, steps + 1}) {
    JsonOutput beside = plan_of(std::to_string(other));
    EXPECT_GE(number(beside, 2, "error"), best) << other;
  }
}

// A plan is about the very noise that the run then has.
TEST(Estimate, IsPlannedBeforehand) {
  const TemporaryFolder folder;
  const std::string file = folder.write("estimate.toml", bike());
  const std::vector<std::string> set{"--set", "privacy.rho=0.5", "--set", "descent.clip_norm=4"};
  std::vector<std::string> arguments{"plan", file, "--json", "--records", "17379"};
  arguments.insert(arguments.end(), set.begin(), set.end());
  JsonOutput plan(run_nustream(arguments));
  ASSERT_EQ(plan.command.code, 0) << plan.command.err;
  JsonOutput found = estimate(folder, bike(), set);
  EXPECT_NEAR(plan.json["rho"].get_double().value(), found.json["rho"].get_double().value(), 1e-12);
  EXPECT_EQ(plan.json["predicted_stddev"].at(2)["steps"].get_uint64().value(), 200U);
  EXPECT_NEAR(plan.json["predicted_stddev"].at(2)["stddev"].get_double().value(),
              found.json["predicted_stddev"].get_double().value(), 1e-15);
  // √(2T)·γ/(√ρ·n)
  EXPECT_NEAR(plan.json["stages"].at(0)["stddev"].get_double().value(),
              std::sqrt(2 * 200.0) * 4 / (std::sqrt(0.5) * 17379), 1e-9);
  const CommandResult absurd = run_nustream({"plan", file, "--records", "17379", "--set", "privacy.rho=1e-12"});
  EXPECT_THAT(absurd.out, HasSubstr("the privacy noise alone leaves a deviation of"));
  EXPECT_EQ(run_nustream({"plan", file, "--records", "17379"}).out.find("the privacy noise alone"),
            std::string::npos);
  const CommandResult without = run_nustream({"plan", file});
  EXPECT_EQ(without.code, 64);
  EXPECT_THAT(without.err, HasSubstr("--records"));
}

TEST(Estimate, SaysBeforehandThatTheNoiseIsLarge) {
  const TemporaryFolder folder;
  const std::vector<std::string> options{"--set", "privacy.rho=1e-5", "--set", "estimate.steps=1000"};
  const JsonOutput found = estimate(folder, bike(), options);
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  EXPECT_THAT(found.command.err, HasSubstr("has a standard deviation of"));
}

// λ² = 2Tγ²/(ρn²) on the mean, so that one coordinate of the first iterate has η·λ: BDE+ section 2.
TEST(Estimate, AddsTheNoiseOfThePaper) {
  const TemporaryFolder folder;
  const std::string config = R"([stream]
name = "constant"
input = ")" + folder.write("zeros.csv", [] {
    std::string rows = "x,y\n";
    for (int i = 0; i < 1000; ++i) rows += "0,0\n";
    return rows;
  }()) + R"("
[target]
column = "y"
[[features]]
column = "x"
[model]
intercept = false
[descent]
step_size = 0.25
clip_norm = 15.811388300841896
[privacy]
rho = 0.05
delta = 1e-6
[estimate]
steps = 10
)";
  // γ = 5√10, n = 1000, T = 10, ρ = .05 give λ = .31622776601683794. There are 60 runs of ten steps, all released.
  double squares = 0;
  constexpr int runs = 60;
  for (int run = 0; run < runs; ++run) {
    const TemporaryFolder state;
    const std::string file = folder.write("c.toml", config);
    const CommandResult result = run_command(
        NUSTREAM_COMMAND, {"estimate", file, "--quiet", "--set", "release.every=1", "--insecure-seed",
                           std::to_string(run), "--set", "state.directory=" + (state.path() / "s").string()});
    ASSERT_EQ(result.code, 0) << result.err;
    simdjson::dom::parser parser;
    std::istringstream lines(read_file(state.path() / "s" / "releases.jsonl"));
    double before = 0;
    int steps = 0;
    for (std::string line; std::getline(lines, line); ++steps) {
      const double now = parser.parse(line)["estimate"]["x"].get_double().value();
      squares += (now - before) * (now - before);
      before = now;
    }
    ASSERT_EQ(steps, 10);
  }
  // With x = 0 a step of the iterate is η z_t, of variance η²λ². The mean of 600 squares is off by 5.8% (one standard
  // error); a bound of 4.5 of those gives a false alarm once in 10⁵.
  const double expected = 0.0625 * 0.31622776601683794 * 0.31622776601683794;
  EXPECT_NEAR(squares / (10 * runs), expected, 4.5 * expected * std::sqrt(2.0 / (10 * runs)));
}

// Whoever has least squares beside the estimate has its noise. Neither the state nor the releases may pass for
// private later.
TEST(Estimate, AComparisonIsNotPrivateForEver) {
  const TemporaryFolder folder;
  ASSERT_EQ(estimate(folder, bike(), {"--compare-nonprivate", "--set", "privacy.rho=1"}).command.code, 0);
  std::ifstream releases(folder.path() / "state" / "releases.jsonl");
  for (std::string line; std::getline(releases, line);) EXPECT_THAT(line, HasSubstr("\"private\":false"));
  for (const char* go_on : {"--resume", "--new-epoch"}) {
    const JsonOutput refused = estimate(folder, bike(), {go_on, "--set", "privacy.rho=1"});
    EXPECT_EQ(refused.command.code, 65) << go_on;
  }
  const TemporaryFolder other;
  ASSERT_EQ(estimate(other, bike(), {"--set", "privacy.rho=1"}).command.code, 0);
  EXPECT_EQ(estimate(other, bike(), {"--new-epoch", "--compare-nonprivate", "--set", "privacy.rho=1"}).command.code,
            65);
}

// Logistic by name and a multinomial of two classes are the same model on the same path.
TEST(Estimate, TwoClassesAreLogistic) {
  const TemporaryFolder folder;
  std::string rows = "x,y\n";
  for (int i = 0; i < 200; ++i) rows += std::to_string(i % 17) + "," + std::to_string(i % 17 > 8 ? 1 : 0) + "\n";
  const std::string config = "[stream]\nname = \"t\"\ninput = \"" + folder.write("labels.csv", rows) +
                             "\"\n[target]\ncolumn = \"y\"\n[[features]]\ncolumn = \"x\"\ncenter = 8\nscale = 5\n"
                             "[descent]\nstep_size = 0.5\nclip_norm = 2\n[privacy]\nrho = 1e9\ndelta = 1e-6\n"
                             "[estimate]\nsteps = 50\n";
  const TemporaryFolder of_classes;
  JsonOutput classes = estimate(of_classes, config, {"--set", "model.loss=multinomial", "--set", "model.classes=2"});
  ASSERT_EQ(classes.command.code, 0) << classes.command.err;
  JsonOutput logistic = estimate(folder, config, {"--set", "model.loss=logistic"});
  ASSERT_EQ(logistic.command.code, 0) << logistic.command.err;
  EXPECT_NEAR(classes.value("estimate", "x"), logistic.value("estimate", "x"), 1e-3);
  EXPECT_GT(logistic.value("estimate", "x"), 0.1);
}

TEST(Estimate, ASecondOneIsRefusedOrAddsUp) {
  const TemporaryFolder folder;
  ASSERT_EQ(estimate(folder, bike(), {"--set", "privacy.rho=1"}).command.code, 0);
  const JsonOutput refused = estimate(folder, bike(), {"--set", "privacy.rho=1"});
  EXPECT_EQ(refused.command.code, 65);
  EXPECT_THAT(refused.command.err, HasSubstr("nustream estimate"));
  JsonOutput again = estimate(folder, bike(), {"--set", "privacy.rho=1", "--new-epoch"});
  ASSERT_EQ(again.command.code, 0) << again.command.err;
  EXPECT_NEAR(again.json["ledger_rho"].get_double().value(), 2, 1e-9);
}

TEST(Estimate, ANewEpochSaysWhereItBegins) {
  const TemporaryFolder folder;
  const std::string said = "nustream: epoch 1 begins at descent.start, whatever was released before it, as every run";
  const JsonOutput first = estimate(folder, bike(), {"--set", "privacy.rho=1"});
  ASSERT_EQ(first.command.code, 0) << first.command.err;
  EXPECT_THAT(first.command.err, Not(HasSubstr("begins at")));
  const JsonOutput again = estimate(folder, bike(), {"--set", "privacy.rho=1", "--new-epoch"});
  EXPECT_THAT(again.command.err, HasSubstr(said));
  // The runs of one estimate are epochs too, and of these nobody asked where they begin.
  const JsonOutput runs =
      estimate(folder, bike(), {"--set", "privacy.rho=1", "--new-epoch", "--set", "intervals.kind=runs"});
  ASSERT_EQ(runs.command.code, 0) << runs.command.err;
  EXPECT_THAT(runs.command.err, AllOf(HasSubstr("epoch 2 begins at"), Not(HasSubstr("epoch 3 begins at"))));
  const JsonOutput quiet = estimate(folder, bike(), {"--set", "privacy.rho=1", "--new-epoch", "--quiet"});
  EXPECT_THAT(quiet.command.err, Not(HasSubstr("begins at")));
}

TEST(Estimate, TellsTheOperatorOfADegenerateTable) {
  const TemporaryFolder folder;
  const std::string rows = folder.write("collinear.csv", "a,b,c,y\n1,2,7,1\n2,4,7,3\n3,6,7,2\n4,8,7,5\n");
  const auto config = [&](const std::string& columns) {
    std::string text = "[stream]\nname = \"t\"\ninput = \"" + rows + "\"\n[target]\ncolumn = \"y\"\n";
    for (const char column : columns) text += std::string("[[features]]\ncolumn = \"") + column + "\"\n";
    return text +
           "[descent]\nstep_size = 0.01\nclip_norm = 1\n[privacy]\nrho = 1\ndelta = 1e-6\n[estimate]\nsteps = 5\n";
  };
  for (const char* columns : {"ab", "ac"}) {
    const TemporaryFolder own;
    const JsonOutput found = estimate(own, config(columns));
    ASSERT_EQ(found.command.code, 0) << found.command.err;
    EXPECT_THAT(std::string(std::string_view(found.for_operator["degeneracy"])), HasSubstr("collinear (rank 2 of 3"))
        << columns;
  }
}

TEST(Estimate, RefusesWhatCannotBe) {
  const TemporaryFolder folder;
  EXPECT_EQ(estimate(folder, bike(), {"--set", "estimate.steps=0"}).command.code, 78);
  EXPECT_EQ(estimate(folder, bike(), {"--set", "privacy.rho=0"}).command.code, 78);
  EXPECT_EQ(estimate(folder, bike(), {"--set", "descent.minibatch=100000"}).command.code, 78);
  EXPECT_EQ(estimate(folder, bike(), {"--set", "intervals.kind=runs", "--set", "intervals.count=1"}).command.code,
            78);
  EXPECT_EQ(estimate(folder, bike(), {"--set", "intervals.kind=checkpoints", "--set", "intervals.burn_in=195"})
                .command.code,
            78);
  const auto refused = [&](const std::vector<std::string>& options, const char* why) {
    const JsonOutput found = estimate(folder, bike(), options);
    EXPECT_EQ(found.command.code, 78) << why;
    EXPECT_THAT(found.command.err, HasSubstr(why));
  };
  refused({"--set", "noise.correlation=anti-pgd", "--set", "noise.horizon=3"},
          "at most the correlation's horizon, 3");
  refused({"--set", "intervals.kind=checkpoints", "--set", "release.every=7"},
          "release.every divides the distance of checkpoints");
  // The distance is 56, and none of the steps 86, 142 and 198 would be released.
  refused({"--set", "intervals.kind=checkpoints", "--set", "intervals.count=3", "--set", "intervals.burn_in=30",
           "--set", "release.every=8"},
          "a multiple of release.every = 8");
  refused({"--set", "intervals.kind=runs", "--set", "intervals.count=10000000000000"}, "at most 10000 runs");
  refused({"--set", "intervals.kind=runs", "--set", "intervals.averaged=201"}, "at most the 200 steps of a run");
  refused({"--set", "intervals.kind=runs", "--set", "intervals.averaged=0"}, "1 for the last iterate alone");
  refused({"--set", "intervals.kind=runs", "--set", "intervals.averaged=3", "--set", "release.every=2"},
          "release.every = 2 divides them");
  refused({"--set", "intervals.kind=checkpoints", "--set", "intervals.averaged=21"},
          "at most the 20 steps of a checkpoint");
  refused({"--set", "intervals.kind=batch-means", "--set", "intervals.averaged=2"}, "checkpoints\" or \"runs");
  refused({"--set", "intervals.kind=sandwich", "--set", "noise.correlation=tree", "--set", "noise.height=8", "--set",
           "descent.average=tail", "--set", "intervals.second_moment_clip=9", "--set",
           "intervals.squared_residual_clip=9"},
          "trees and dense correlations");
  EXPECT_EQ(estimate(folder, bike(), {folder.write("empty.csv", "cnt,temp,hum,windspeed\n")}).command.code, 65);
  EXPECT_EQ(estimate(folder, bike(), {"--adassp-x-bound", "3"}).command.code, 64);
}

}  // namespace
}  // namespace nustream::tests
