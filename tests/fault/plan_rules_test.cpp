// The advice of `nustream plan`: what no correlation can beat, a bound and a clip norm for a stream, and step sizes
// and clip norms of two stages. It is compared with draws in statistical/inference_*_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "configured_command.h"
#include "example_config.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

JsonOutput plan(const std::string& config, const std::vector<std::string>& options) {
  const TemporaryFolder folder;
  return run_configured("plan", folder, config, options);
}

std::string text(const std::string& config, const std::vector<std::string>& options) {
  const TemporaryFolder folder;
  std::vector<std::string> arguments{"plan", folder.write("model.toml", config)};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return run_command(NUSTREAM_COMMAND, arguments, std::nullopt).out;
}

double number(JsonOutput& found, const char* name) {
  return found.json[name].get_double().value();
}

bool has(JsonOutput& found, const char* name) {
  simdjson::dom::element member;
  return found.json[name].get(member) == simdjson::SUCCESS;
}

TEST(PlanOfADescent, SaysHowFarFromTheBestPossibleItIs) {
  JsonOutput nu = plan(example_config(), {});
  JsonOutput independent = plan(example_config(), {"--set", "noise.correlation=independent", "--set", "noise.nu=0"});
  const double least = number(nu, "least_excess");
  EXPECT_LE(least, number(nu, "suggested_excess") * (1 + 1e-6));
  EXPECT_GT(least, 0.5 * number(nu, "suggested_excess"));
  ASSERT_EQ(independent.command.code, 0) << independent.command.err;
  EXPECT_DOUBLE_EQ(number(independent, "least_excess"), least) << "of every correlation";
  EXPECT_GT(number(independent, "predicted_excess"), 2 * least);
  EXPECT_THAT(text(example_config(), {}),
              AllOf(HasSubstr("no correlation leaves less than"), HasSubstr("on average over a long stream")));
  // A correlation that ends is calibrated for its end alone.
  JsonOutput ends = plan(example_config(), {"--set", "noise.correlation=nu", "--set", "noise.horizon=1000"});
  ASSERT_EQ(ends.command.code, 0) << ends.command.err;
  EXPECT_FALSE(has(ends, "least_excess"));
}

TEST(PlanOfADescent, SaysHowFarACorrelationWithAnEndIsFromTheBest) {
  double least = 0;
  for (const char* each : {"independent", "nu", "anti-pgd"}) {
    const std::vector<std::string> ends{
        "--set", std::string("noise.correlation=") + each, "--set", "noise.horizon=1000", "--set", "noise.nu=0"};
    JsonOutput found = plan(example_config(), ends);
    if (std::string(each) == "independent") {
      EXPECT_FALSE(has(found, "over_horizon"));
      continue;
    }
    ASSERT_EQ(found.command.code, 0) << found.command.err;
    EXPECT_EQ(found.json["over_horizon"]["steps"].get_uint64().value(), 1000U);
    EXPECT_GT(found.value("over_horizon", "mean_excess"), found.value("over_horizon", "least_mean_excess")) << each;
    if (least > 0) {
      EXPECT_DOUBLE_EQ(found.value("over_horizon", "least_mean_excess"), least);
    }
    least = found.value("over_horizon", "least_mean_excess");
    EXPECT_THAT(text(example_config(), ends), HasSubstr("over its 1,000 steps no correlation leaves less than"));
  }
}

TEST(PlanOfADescent, SaysOfWhichStepADenseCorrelationIs) {
  const std::vector<std::string> circulant{"--set", "noise.correlation=circulant", "--set", "noise.horizon=64"};
  EXPECT_THAT(text(example_config(), circulant),
              AllOf(HasSubstr("correlation circulant\n"), HasSubstr("this correlation, at step 64 alone"),
                    HasSubstr("noise left in the iterate of that step")));
  JsonOutput found = plan(example_config(), circulant);
  EXPECT_EQ(found.json["predicted_at_step"].get_uint64().value(), 64U);
  EXPECT_EQ(found.json["correlation"].get_string().value(), "circulant");
  EXPECT_THAT(text(example_config(), {"--set", "noise.correlation=full-honaker", "--set", "noise.height=5"}),
              AllOf(HasSubstr("correlation full-honaker\n"), HasSubstr("at step 32 alone")));
  EXPECT_THAT(text(example_config(), {}), Not(HasSubstr("alone")));
  const TemporaryFolder folder;
  const CommandResult large =
      run_command(NUSTREAM_COMMAND, {"plan", folder.write("model.toml", example_config()), "--set",
                                     "noise.correlation=circulant", "--set", "noise.horizon=4096"});
  EXPECT_THAT(large.err, HasSubstr("at most 4095 steps"));
}

TEST(PlanOfADescent, SaysThatRestartsAreIgnored) {
  const std::vector<std::string> ends{"--set", "descent.horizon=1000", "--set", "noise.restarts=true"};
  EXPECT_THAT(text(example_config(), ends), HasSubstr("noise.restarts = true is ignored"));
  EXPECT_THAT(text(example_config(), {"--set", "noise.restarts=true"}), Not(HasSubstr("is ignored")))
      << "a stream without an end has nothing to begin anew";
  const TemporaryFolder folder;
  const std::string config = folder.write("model.toml", example_config());
  EXPECT_THAT(run_command(NUSTREAM_COMMAND, {"check", config, ends[0], ends[1], ends[2], ends[3]}).out,
              HasSubstr("noise.restarts = true is ignored"));
}

TEST(PlanOfRunningSums, SaysWhatPartOfTheBudgetIsSpent) {
  const std::vector<std::string> sums{"--set", "model.estimator=moments",  "--set", "moments.row_norm=2",
                                      "--set", "moments.residual_bound=3", "--set", "plan.records=50000"};
  EXPECT_THAT(text(example_config(), sums), HasSubstr("moments.releases = 50 spends all of it"));
  std::vector<std::string> known = sums;
  known.insert(known.end(), {"--set", "moments.releases=50"});
  EXPECT_THAT(text(example_config(), known), Not(HasSubstr("spends all of it")));
}

/// A table of 4,000 records with four eigenvalues, or without any.
std::string of_table(const std::string& plan) {
  return example_config() + "[estimate]\nsteps = 10\n[plan]\n" + plan;
}

TEST(PlanOfATable, SaysOfWhichEigenvaluesWhatIsLeftIs) {
  const std::vector<std::string> records{"--records", "4000", "--set", "descent.step_size=0.3"};
  EXPECT_THAT(text(of_table(""), records),
              HasSubstr("what is left of the start is at most this where eigenvalues of E[xx'] are 1/2"));
  EXPECT_THAT(text(of_table("second_moment_eigenvalues = [1.0, 1.0]\n"), records),
              HasSubstr("is at most this where eigenvalues of E[xx'] are within a tenth of"));
}

TEST(PlanOfATable, DrawsTheErrorThatItPrints) {
  const TemporaryFolder folder;
  const std::string chart = (folder.path() / "plan.svg").string();
  const std::string config = folder.write("model.toml", of_table("distance = 1.0\n"));
  ASSERT_EQ(run_command(NUSTREAM_COMMAND,
                        {"plan", config, "--records", "4000", "--set", "descent.step_size=0.3", "--chart", chart})
                .code,
            0);
  EXPECT_THAT(read_file(chart), AllOf(HasSubstr("expected distance to the answer"), Not(HasSubstr("noise leaves"))));
}

const std::vector<std::string> guesses{"--set", "plan.records=100000", "--set", "plan.residual=1",
                                       "--set", "plan.distance=2",     "--set", "descent.clip_norm=20"};

TEST(PlanOfADescent, BoundsTheErrorAndTellsAClipNorm) {
  JsonOutput found = plan(example_config(), guesses);
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  const double privacy = found.value("bound", "privacy");
  EXPECT_DOUBLE_EQ(privacy, number(found, "predicted_excess"));
  EXPECT_NEAR(found.value("bound", "excess"),
              privacy + found.value("bound", "start") + found.value("bound", "sampling"), 1e-9 * privacy);
  // η/2 · Tr H σ²/2 to first order, for one feature and an intercept.
  EXPECT_NEAR(found.value("bound", "sampling"), 0.005, 0.0005);
  EXPECT_THAT(text(example_config(), guesses), HasSubstr("after 100,000 steps at most"));

  // What the plan expects after so many steps is below the bound, where the clip norm that it suggests is set.
  std::vector<std::string> more = guesses;
  more.insert(more.end(), {"--set", "privacy.rho=1e6"});
  const double clip = [&] {
    JsonOutput quiet = plan(example_config(), more);
    return number(quiet, "clip_norm_without_clipping");
  }();
  EXPECT_GT(clip, 20);
  more.insert(more.end(), {"--set", "descent.clip_norm=" + std::to_string(clip)});
  JsonOutput unclipped = plan(example_config(), more);
  const double expected = unclipped.json["expected"]["as_set"]["the last iterate"]["error"].get_double().value();
  EXPECT_LT(expected * expected / 2, unclipped.value("bound", "excess"));
  EXPECT_GT(expected * expected / 2, 0.5 * unclipped.value("bound", "excess"));
}

TEST(PlanOfADescent, BoundsNothingWithoutGuessesOrOverSeveralPasses) {
  JsonOutput bare = plan(example_config(), {"--records", "1000"});
  EXPECT_FALSE(has(bare, "bound"));
  std::vector<std::string> more = guesses;
  more.insert(more.end(), {"--passes", "3", "--records", "100000"});
  JsonOutput passes = plan(example_config(), more);
  ASSERT_EQ(passes.command.code, 0) << passes.command.err;
  EXPECT_FALSE(has(passes, "bound"));
  EXPECT_FALSE(has(passes, "clip_norm_without_clipping"));
}

TEST(PlanOfADescent, SaysWhereNoClipNormIsEnough) {
  std::vector<std::string> more = guesses;
  more.insert(more.end(), {"--set", "privacy.rho=1e-4"});
  EXPECT_THAT(text(example_config(), more), HasSubstr("for no clip_norm is it certain that nothing is clipped"));
}

std::string two_stages(const std::string& plan) {
  return R"([stream]
name = "iv"
input = "rows.csv"
[target]
column = "y"
[[instruments]]
column = "z1"
[[instruments]]
column = "z2"
[[endogenous]]
column = "x"
[model]
intercept = false
[descent]
step_size = 0.5
clip_norm = 50
[first_stage]
step_size = 0.8
clip_norm = 50
[privacy]
rho = 100
delta = 1e-6
[estimate]
steps = 20
[plan]
residual = 1
distance = 1
)" + plan;
}

TEST(PlanOfTwoStages, TellsStepSizesAndClipNorms) {
  const std::string config = two_stages("second_moment_eigenvalues = [0.81]\n");
  JsonOutput found = plan(config, {"--records", "100000"});
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  EXPECT_NEAR(found.value("two_stages", "first_step_size_below"), 2, 0.1);
  EXPECT_NEAR(found.value("two_stages", "step_size_below"), 4 / (3 * 0.81), 0.15);  // Remark 3.2
  EXPECT_NEAR(found.value("two_stages", "step_size_fastest"), 1 / 0.81, 0.1);
  EXPECT_LT(found.value("two_stages", "contraction"), 1);
  EXPECT_GT(found.value("two_stages", "clip_norm_without_clipping"), 10);
  EXPECT_EQ(found.json["warnings"].get_array().size(), 0u);
  EXPECT_THAT(text(config, {"--records", "100000"}), HasSubstr("descent.step_size 0.5: contracts below"));
  // Fewer records tell less about the largest eigenvalue, and about the smallest.
  JsonOutput few = plan(config, {"--records", "1000"});
  EXPECT_LT(few.value("two_stages", "step_size_below"), found.value("two_stages", "step_size_below"));
  EXPECT_GT(few.value("two_stages", "contraction"), found.value("two_stages", "contraction"));
}

TEST(PlanOfADescent, BoundsTheErrorAtItsEnd) {
  std::vector<std::string> ends = guesses;
  ends.insert(ends.end(), {"--set", "descent.horizon=1000"});
  JsonOutput found = plan(example_config(), ends);
  EXPECT_EQ(found.json["bound"]["steps"].get_uint64().value(), 1000U);
  EXPECT_THAT(text(example_config(), ends), HasSubstr("after 1,000 steps at most"));
}

TEST(PlanOfTwoStages, WarnsOfStepsThatMayNotContract) {
  const std::string config = two_stages("second_moment_eigenvalues = [0.81]\n");
  const std::string warning = "two stages are sure to contract at first_stage.step_size below";
  EXPECT_THAT(text(config, {"--records", "100000", "--set", "descent.step_size=2"}), HasSubstr(warning));
  EXPECT_THAT(text(config, {"--records", "100000"}), Not(HasSubstr(warning)));
  EXPECT_THAT(text(config, {"--records", "200", "--set", "plan.second_moment_eigenvalues=[0.01]"}),
              HasSubstr("so weak a first stage may not contract at any"));
}

TEST(PlanOfTwoStages, NeedsItsGuesses) {
  JsonOutput bare = plan(two_stages(""), {"--records", "1000"});
  ASSERT_EQ(bare.command.code, 0) << bare.command.err;
  EXPECT_FALSE(has(bare, "two_stages"));
  for (const char* wrong : {"second_moment_eigenvalues = [0.5, 0.5]\n", "second_moment_eigenvalues = [1.5]\n"}) {
    JsonOutput refused = plan(two_stages(wrong), {"--records", "1000"});
    EXPECT_EQ(refused.command.code, 78);
    EXPECT_THAT(refused.command.err, HasSubstr("plan.second_moment_eigenvalues"));
  }
}

}  // namespace
}  // namespace nustream::tests
