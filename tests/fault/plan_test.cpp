// `nustream plan` of a descent: what it predicts of the number that is quoted, what it suggests for it, and what it
// warns of.
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

JsonOutput plan(const std::vector<std::string>& options) {
  const TemporaryFolder folder;
  return run_configured("plan", folder, example_config(), options);
}

std::string text(const std::vector<std::string>& options) {
  const TemporaryFolder folder;
  std::vector<std::string> arguments{"plan", folder.write("model.toml", example_config())};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return run_command(NUSTREAM_COMMAND, arguments, std::nullopt).out;
}

const std::vector<std::string> tail{
    "--records", "100000", "--set", "descent.average=tail", "--set", "descent.average_from=50000"};

// A plan with what was suggested finds that nothing is better.
TEST(PlanOfAnAverage, SuggestsWhatMakesItBetter) {
  JsonOutput before = plan(tail);
  const double suggested = before.value("average", "suggested_nu");
  EXPECT_LT(suggested, 1e-4);
  EXPECT_LT(before.value("average", "suggested_excess"), before.value("average", "predicted_excess") / 4);
  std::vector<std::string> better = tail;
  better.insert(better.end(), {"--set", "noise.nu=" + std::to_string(suggested)});
  JsonOutput after = plan(better);
  EXPECT_NEAR(after.value("average", "predicted_excess"), before.value("average", "suggested_excess"),
              0.01 * before.value("average", "suggested_excess"));
  EXPECT_NEAR(after.json["predicted_excess"].get_double().value(), before.value("average", "suggested_last_excess"),
              0.02 * before.value("average", "suggested_last_excess"));
  EXPECT_THAT(text(tail), HasSubstr("as the average is what to quote"));
  EXPECT_THAT(text(better), HasSubstr("noise.nu suits the average"));
}

// Steps that diverge have no error with any correlation, and a quotient of two such errors is no gain.
TEST(PlanOfAnAverage, SuggestsNoCorrelationForStepsThatDiverge) {
  std::vector<std::string> diverging = tail;
  diverging.insert(diverging.end(), {"--set", "descent.step_size=0.9"});
  EXPECT_THAT(text(diverging), AllOf(HasSubstr("no noise.nu is suggested"), Not(HasSubstr("nan"))));
}

TEST(PlanOfAnAverage, OfAnEndlessStreamSuggestsForEveryLength) {
  JsonOutput found = plan({"--set", "descent.average=tail"});
  EXPECT_TRUE(found.json["average"]["every_length"].get_bool().value());
  EXPECT_LT(found.value("average", "suggested_nu"), 1e-7);
  EXPECT_THAT(text({"--set", "descent.average=tail"}), HasSubstr("at every length"));
}

TEST(PlanOfADescent, SaysHowMuchARecordCounts) {
  const std::vector<std::string> weighted{"--set", "weight.column=n", "--set", "weight.max=5"};
  EXPECT_THAT(text(weighted), HasSubstr("\neach record counts as column 'n' says, at most 5 (weight)\n"));
  EXPECT_THAT(text({"--set", "model.loss=poisson", "--set", "exposure.column=days", "--set", "exposure.max=30"}),
              HasSubstr("\neach count is over what column 'days' says, at most 30 (exposure)\n"));
  EXPECT_THAT(text({}), Not(HasSubstr("(weight)")));
}

// One object for each key of the file, whatever number of features it makes.
TEST(PlanOfADescent, TellsInJsonWhatColumnsAreMadeInto) {
  const auto json = [](std::vector<std::string> options) {
    options.emplace_back("--json");
    return text(options);
  };
  EXPECT_THAT(json({"--set", "weight.column=w", "--set", "weight.max=5"}),
              AllOf(HasSubstr("\"features\":[{\"kind\":\"identity\",\"column\":\"x\",\"features\":1}],"
                              "\"weight\":{\"column\":\"w\",\"max\":5},"),
                    Not(HasSubstr("\"exposure\""))));
  EXPECT_THAT(json({"--set", "model.loss=poisson", "--set", "exposure.column=days", "--set", "exposure.max=30",
                    "--set", "exposure.log=true"}),
              HasSubstr("\"exposure\":{\"column\":\"days\",\"log\":true,\"max\":30},"));
  const std::string features =
      "features=[{column=\"a\",hash=3},{column=\"a\",hash=2,name=\"b\"},{column=\"a\",one_hot=[\"u\",\"v\"],other="
      "true},"
      "{column=\"a\",one_hot=[\"u\"],name=\"c\"},{column=\"a\",bins=[0,1,inf]},{transform=\"interaction\","
      "of=[{column=\"a\"},{column=\"c\"}]},{column=\"a\",transform=\"log\"}]";
  EXPECT_THAT(
      json({"--set", features}),
      HasSubstr("\"features\":[{\"kind\":\"hash\",\"column\":\"a\",\"features\":3},"
                "{\"kind\":\"hash\",\"column\":\"a\",\"features\":2},"
                "{\"kind\":\"one_hot\",\"column\":\"a\",\"features\":3,\"texts\":[\"u\",\"v\"],\"other\":true},"
                "{\"kind\":\"indicator\",\"column\":\"a\",\"features\":1,\"texts\":[\"u\"],\"other\":false},"
                "{\"kind\":\"bins\",\"column\":\"a\",\"features\":2,\"edges\":[0,1,null]},"
                "{\"kind\":\"interaction\",\"columns\":[\"a\",\"c\"],\"features\":1},"
                "{\"kind\":\"log\",\"column\":\"a\",\"features\":1}],"));
}

TEST(PlanOfADescent, HasNoAverageWhereNoneIsReleased) {
  JsonOutput found = plan({});
  simdjson::dom::element average;
  EXPECT_NE(found.json["average"].get(average), simdjson::SUCCESS);
}

// A step's gradient is the mean of its minibatch: its noise is a hundredth of that of Δ.
TEST(PlanOfADescent, DividesTheNoiseByTheMinibatch) {
  JsonOutput one = plan({});
  JsonOutput many = plan({"--set", "descent.minibatch=100"});
  EXPECT_NEAR(one.json["seed_stddev"].get_double().value() / many.json["seed_stddev"].get_double().value(), 100,
              1e-9);
}

TEST(PlanOfADescent, SeesTheScaleThatTheSettingsTell) {
  EXPECT_THAT(text({}), HasSubstr("nothing in the settings tells the size of x"));
  const std::vector<std::string> clamped{"--set", "features.0.clamp=[-4, 5]"};
  EXPECT_THAT(text(clamped), HasSubstr("guessed from clamps and transforms"));
  EXPECT_THAT(text(clamped), Not(HasSubstr("nothing in the settings")));
  JsonOutput small = plan({"--set", "features.0.clamp=[-4, 5]"});
  JsonOutput large = plan({"--set", "features.0.clamp=[-4, 5]", "--set", "features.0.scale=0.5"});
  EXPECT_GT(large.json["predicted_excess"].get_double().value(), small.json["predicted_excess"].get_double().value());
}

TEST(PlanOfADescent, WarnsOfADeviationThatHidesEveryAnswer) {
  EXPECT_THAT(text({"--set", "privacy.rho=1e-6"}), HasSubstr("the privacy noise alone leaves a deviation of"));
  EXPECT_THAT(text({}), Not(HasSubstr("the privacy noise alone leaves")));
  EXPECT_THAT(text({"--set", "descent.step_size=0.9"}), HasSubstr("the iterates diverge"));
}

// Clipping keeps such iterates finite, so that a formula would give a number. It is no error that anybody may expect.
TEST(PlanOfADescent, QuotesNoErrorWhereTheIteratesDiverge) {
  for (const char* step_size : {"0.6", "0.9", "3"}) {
    std::vector<std::string> diverging = tail;
    diverging.insert(diverging.end(),
                     {"--set", std::string("descent.step_size=") + step_size, "--set", "plan.records=100000", "--set",
                      "plan.residual=1", "--set", "plan.distance=1"});
    const std::string said = text(diverging);
    EXPECT_THAT(said, HasSubstr("as set: no error can be expected")) << step_size;
    EXPECT_THAT(said, Not(HasSubstr("the last iterate, as set"))) << step_size;
    EXPECT_THAT(said, Not(HasSubstr("the average, as set"))) << step_size;
    EXPECT_THAT(said, Not(HasSubstr("noise left in the"))) << step_size;
    JsonOutput found = plan(diverging);
    ASSERT_EQ(found.command.code, 0) << found.command.err;
    EXPECT_TRUE(found.json["expected"]["as_set"]["the last iterate"].is_null()) << step_size;
    simdjson::dom::element average;
    EXPECT_NE(found.json["expected"]["as_set"]["the average"].get(average), simdjson::SUCCESS) << step_size;
  }
  std::vector<std::string> shorter = tail;
  shorter.insert(shorter.end(), {"--set", "descent.step_size=0.4", "--set", "plan.records=100000", "--set",
                                 "plan.residual=1", "--set", "plan.distance=1"});
  EXPECT_THAT(text(shorter), AllOf(HasSubstr("the average, as set"), HasSubstr("noise left in the iterate")));
}

/// Guesses about a stream for which sums are best, with the settings of a descent left to be chosen.
std::string to_choose(const std::string& guesses) {
  std::string settings = example_config();
  for (const char* line : {"step_size = 0.01\n", "clip_norm = 1.0\n", "[noise]\nnu = 0.01\n"}) {
    settings.replace(settings.find(line), std::string(line).size(), "");
  }
  return settings + "[model]\nestimator = \"auto\"\n[plan]\n" + guesses;
}

TEST(PlanThatChooses, TakesTheLeastAndSaysWhy) {
  const TemporaryFolder folder;
  JsonOutput found = run_configured("plan", folder, to_choose("records = 100000\nresidual = 1\ndistance = 1\n"), {});
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  const std::string least{found.json["expected"]["least"].get_string().value()};
  EXPECT_THAT(std::string(found.json["expected"]["chosen"].get_string().value()),
              HasSubstr(least + " has the least"));
  double error = INFINITY;
  for (const auto each : found.json["expected"]["best"].get_object()) {
    error = std::min(error, each.value["error"].get_double().value());
  }
  EXPECT_EQ(error, found.json["expected"]["best"][least]["error"].get_double().value());
  // What is then set is expected to do as was said, but for the rounding to two digits.
  EXPECT_NEAR(found.json["expected"]["as_set"]["running sums"]["error"].get_double().value(), error, 0.05 * error);
  simdjson::dom::element sums;
  EXPECT_EQ(found.json["moments"].get(sums), simdjson::SUCCESS) << "sums were chosen";
}

/// A stream of 49 features, with guesses, whose estimator is to be chosen.
std::string many_features() {
  std::string settings =
      "[stream]\nname = \"many\"\ninput = \"many.csv\"\n[target]\ncolumn = \"y\"\n[privacy]\nrho = 0.1\ndelta = "
      "1e-6\n[model]\nestimator = \"auto\"\n[moments]\nreleases = 100\n[release]\nevery = 1000\n[plan]\nrecords = "
      "100000\nresidual = 1.0\ndistance = 1.0\n";
  for (int j = 0; j < 49; ++j) settings += "[[features]]\ncolumn = \"x" + std::to_string(j) + "\"\n";
  return settings;
}

// What is filled in is read as three stages: the settings as they are then have the error that was expected.
TEST(PlanThatChooses, RecentresTwiceWhereThereAreManyCoefficients) {
  const TemporaryFolder folder;
  JsonOutput found = run_configured("plan", folder, many_features(), {});
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  const auto best = found.json["expected"]["best"];
  const double once = best["running sums, recentred"]["error"].get_double().value();
  const double twice = best["running sums, recentred twice"]["error"].get_double().value();
  EXPECT_LT(twice, once);
  EXPECT_EQ(found.json["expected"]["taken"].get_string().value(), "running sums, recentred twice");
  EXPECT_THAT(std::string(best["running sums, recentred twice"]["settings"].get_string().value()),
              AllOf(HasSubstr("moments.stages=[{from=5000, residual_bound="), HasSubstr("}, {from=15000, "),
                    HasSubstr("moments.second_moment_share=0.4")));
  EXPECT_NEAR(found.json["expected"]["as_set"]["running sums"]["error"].get_double().value(), twice, 0.02 * twice);
}

// With two coefficients a third stage does not lower the error, and is not spoken of.
TEST(PlanThatChooses, DoesNotRecentreTwiceForNothing) {
  const TemporaryFolder folder;
  JsonOutput found = run_configured("plan", folder, to_choose("records = 100000\nresidual = 1\ndistance = 1\n"), {});
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  simdjson::dom::element twice;
  EXPECT_NE(found.json["expected"]["best"]["running sums, recentred twice"].get(twice), simdjson::SUCCESS);
}

/// Guesses under which an average and recentred sums are nearly level, whichever estimator is set.
std::string near_tie() {
  std::string settings = example_config();
  for (const char* line : {"step_size = 0.01", "clip_norm = 1.0", "[noise]\nnu = 0.01\n", "rho = 0.5"}) {
    settings.replace(settings.find(line), std::string(line).size(), "");
  }
  settings.replace(settings.find("[descent]\n"), 10,
                   "[descent]\nstep_size = 0.002\nclip_norm = 6.0\naverage = \"tail\"\naverage_from = 20000\n");
  settings.replace(settings.find("[privacy]\n"), 10, "[privacy]\nrho = 0.05\n");
  return settings +
         "[moments]\nrow_norm = 4.0\nresidual_bound = 6.0\nreleases = 398\n[release]\nevery = 1000\n"
         "[plan]\nrecords = 397884\nresidual = 1.0\ndistance = 1.0\nsecond_moment_eigenvalues = [0.5, 1.5]\n";
}

// The choice compares errors, which follow from numbers; what is "private" is measured later.
TEST(PlanThatChooses, NeedsNumbersToChoose) {
  const TemporaryFolder folder;
  const JsonOutput found = run_configured("check", folder, near_tie(),
                                          {"--set", "model.estimator=auto", "--set", "features.0.center=private"});
  EXPECT_EQ(found.command.code, 78);
  EXPECT_THAT(found.command.err, AllOf(HasSubstr("features.0.center = \"private\" where model.estimator = \"auto\""),
                                       HasSubstr("--write-config")));
}

TEST(PlanThatChooses, TakesRunningSumsNearATie) {
  std::vector<std::string> least;
  std::vector<double> of_sums;
  for (const char* estimator : {"auto", "descent", "moments"}) {
    const TemporaryFolder folder;
    JsonOutput found =
        run_configured("plan", folder, near_tie(), {"--set", std::string("model.estimator=") + estimator});
    ASSERT_EQ(found.command.code, 0) << found.command.err;
    least.emplace_back(found.json["expected"]["least"].get_string().value());
    of_sums.push_back(found.json["expected"]["best"]["running sums, recentred"]["error"].get_double().value());
    EXPECT_EQ(found.json["expected"]["taken"].get_string().value(), "running sums, recentred") << estimator;
    simdjson::dom::element why;
    if (found.json["expected"]["chosen"].get(why) != simdjson::SUCCESS) continue;
    EXPECT_THAT(std::string(why.get_string().value()),
                AllOf(::testing::StartsWith("running sums, recentred is taken, since drift does not bias running "
                                            "sums; its expected error is within the factor 1.3"),
                      HasSubstr("drift does not bias running sums"), HasSubstr("stationary")));
  }
  // The releases that the sums are to have are known, whichever estimator is set.
  EXPECT_THAT(least, ::testing::Each(::testing::Eq(least.front())));
  EXPECT_THAT(of_sums, ::testing::Each(::testing::Eq(of_sums.front())));
}

TEST(PlanThatChooses, LeavesWhatIsSet) {
  const TemporaryFolder folder;
  JsonOutput found = run_configured("plan", folder, to_choose("records = 100000\nresidual = 1\ndistance = 1\n"),
                                    {"--set", "moments.row_norm=0.01", "--set", "moments.residual_bound=0.01"});
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  EXPECT_THAT(std::string(found.json["expected"]["chosen"].get_string().value()),
              ::testing::StartsWith("the average has the least"));
  EXPECT_GT(found.value("average", "predicted_excess"), 0);
}

TEST(PlanThatChooses, NeedsGuessesAndALinearModel) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& guesses, const std::vector<std::string>& options) {
    const JsonOutput found = run_configured("plan", folder, to_choose(guesses), options);
    EXPECT_EQ(found.command.code, 78);
    return found.command.err;
  };
  EXPECT_THAT(refused("records = 1000\nresidual = 1\n", {}), HasSubstr("plan.distance is missing"));
  EXPECT_THAT(refused("records = 1000\n", {}), HasSubstr("plan.residual and plan.distance are missing"));
  const std::string guesses = "records = 100000\nresidual = 1\ndistance = 1\n";
  EXPECT_THAT(refused(guesses, {"--set", "model.loss=huber"}), HasSubstr("model.estimator"));
  EXPECT_THAT(refused(guesses, {"--set", "descent.average=exponential"}), HasSubstr("descent.average"));
  EXPECT_THAT(refused("records = 1000\nresidual = 0\ndistance = 1\n", {}), HasSubstr("plan.residual"));
}

TEST(PlanOfADescent, ExpectsAnErrorOfTheSettingsAsTheyAre) {
  JsonOutput found = plan({"--set", "plan.records=100000", "--set", "plan.residual=1", "--set", "plan.distance=1"});
  EXPECT_GT(found.json["expected"]["as_set"]["the last iterate"]["error"].get_double().value(),
            found.json["expected"]["best"]["the last iterate"]["error"].get_double().value());
  EXPECT_THAT(text({"--set", "plan.records=100000", "--set", "plan.residual=1", "--set", "plan.distance=1"}),
              HasSubstr("running sums, recentred"));
}

}  // namespace
}  // namespace nustream::tests
