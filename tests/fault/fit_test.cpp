// `nustream fit` end to end: what it finds, and what it says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "command.h"
#include "fit_world.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The slopes' standard errors by sampling are .006 and .018; the bounds are five times those and the noise's.
TEST_F(Fit, FindsTheSlopesOfTheColumnsThatAreNumbers) {
  const CommandResult result = fit({"--target", "y", "--rho", "1", "--insecure-seed", "1", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NEAR(member(result, "estimate", "a"), 2, 0.1);
  EXPECT_NEAR(member(result, "estimate", "b"), -1, 0.2);
  EXPECT_THAT(result.out, HasSubstr("\"left_out\":[\"c\",\"d\"]"));
  EXPECT_THAT(result.out, HasSubstr("\"private\":false"));
}

TEST_F(Fit, SaysWhatWasAssumedMeasuredAndSpent) {
  const CommandResult result = fit({"--target", "y", "--features", "a,b", "--rho", "1"});
  ASSERT_EQ(result.code, 0) << result.err;
  for (const char* line :
       {"assumed", "measured", "estimate", "interval", "intercept", "rho spent", "epsilon", "folder", "key"}) {
    EXPECT_THAT(result.out, HasSubstr(line));
  }
  EXPECT_EQ(std::filesystem::exists(file + ".fit/releases.jsonl"), true);
  EXPECT_EQ(ledger_rho(), "1.000000");
}

// Two features make ten lines, whatever is left out and whether there are intervals or not.
TEST_F(Fit, SaysItInTenLines) {
  for (const char* rho : {"1", "0.1"}) {
    const CommandResult result = fit({"--target", "y", "--rho", rho, "--insecure-seed", "1"});
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(std::ranges::count(result.out, '\n'), 10) << result.out;
    EXPECT_THAT(result.out, AllOf(HasSubstr("by least squares, 6,000 records\n"), HasSubstr("; left out: c (")));
  }
}

TEST_F(Fit, HeadsAMeanAsAMean) {
  const CommandResult result = fit({"--target", "y", "--mean", "--rho", "1"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("mean of y, 6,000 records\n"), HasSubstr("scale of 1 column,"),
                                Not(HasSubstr("least squares"))));
}

// The seed is fixed because the noise hides the residuals' spread, and so the intervals, under one random key of
// fifty. With 6,000 records it would do so under one key of five.
TEST_F(Fit, HasIntervals) {
  static_cast<void>(folder.write("table.csv", fit_table(40'000)));
  const CommandResult result = fit({"--target", "y", "--features", "a,b", "--rho", "1", "--insecure-seed", "1"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("95% interval\n"), HasSubstr("intervals       cover"),
                                HasSubstr("(several lines of one person are not)")));
}

// Nanoseconds since 1970, and billionths: a column may have any unit. The slope is 2 for each standard deviation, and
// its standard error .013.
TEST_F(Fit, ReadsColumnsOfAnyUnit) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::string large = "t,y\n";
  std::string small = large;
  for (int i = 0; i < 6000; ++i) {
    const double t = normal(random);
    const double y = 2 * t + normal(random);
    large += fmt::format("{:.0f},{:.6f}\n", 1.7e18 + 1e16 * t, y);
    small += fmt::format("{:.9e},{:.9e}\n", 1e-9 * t, 1e-9 * y);
  }
  const std::vector<std::pair<std::string, double>> tables{{folder.write("large.csv", large), 1e16},
                                                           {folder.write("small.csv", small), 1}};
  for (const auto& [table_file, deviation] : tables) {
    const CommandResult result = run_command(
        NUSTREAM_COMMAND, {"fit", table_file, "--target", "y", "--rho", "1", "--insecure-seed", "3", "--json"});
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_NEAR(member(result, "estimate", "t") * deviation, 2, 0.1) << table_file;
  }
}

TEST_F(Fit, DrawsOtherNoiseEveryTime) {
  const std::vector<std::string> options{"--target", "y", "--features", "a", "--json"};
  const CommandResult one = fit(options);
  const CommandResult other = fit(options);
  ASSERT_EQ(one.code, 0) << one.err;
  ASSERT_EQ(other.code, 0) << other.err;
  EXPECT_NE(member(one, "estimate", "a"), member(other, "estimate", "a"));
}

TEST_F(Fit, RefusesWhatItCannotDoBeforeAnythingIsSpent) {
  const auto expect = [&](const std::vector<std::string>& options, int code, const std::string& text) {
    const CommandResult result = fit(options);
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(text));
    EXPECT_FALSE(std::filesystem::exists(file + ".fit/ledger")) << text;
  };
  expect({"--target", "y", "--logistic", "--poisson"}, 64, "");
  expect({"--target", "y", "--features", "a", "--delta", "1e-5,1e-5"}, 64, "twice");
  expect({"--target", "y", "--features", "a", "--delta", "1e-5,2"}, 78, "delta");
  expect({"--target", "y", "--rho", "0.001"}, 78, "or --rho 0.0");
  expect({"--target", "z"}, 78, "'z'");
  expect({"--target", "y", "--features", "a,a"}, 64, "'a' is there twice");
  expect({"--target", "exp(y)", "--features", "a"}, 64, "no map of one");
  expect({"--target", "y", "--features", "a", "--format", "jsonl", "--mean"}, 64, "");
  expect({"--target", "y", "--format", "jsonl"}, 65, "is CSV, and --format jsonl");
  const CommandResult unlisted =
      run_command(NUSTREAM_COMMAND, {"fit", folder.write("t.jsonl", "{}\n"), "--target", "y"});
  EXPECT_EQ(unlisted.code, 64);
  EXPECT_THAT(unlisted.err, HasSubstr("list the columns"));
}

TEST_F(Fit, SaysWhatASmallFileWouldNeed) {
  const auto refused = [this](std::size_t rows, const std::string& features, const std::string& rho) {
    folder.write("table.csv", fit_table(rows));
    const CommandResult result = fit({"--target", "y", "--features", features, "--rho", rho});
    EXPECT_EQ(result.code, 78) << result.err;
    EXPECT_FALSE(std::filesystem::exists(file + ".fit"));
    return result.err;
  };
  // 60·√(3/2ρ) rows are a tenth of the records: 2,324 of them at ρ = .1. Fewer than 500 suffice at no ρ.
  EXPECT_THAT(refused(300, "a,b", "0.1"),
              AllOf(HasSubstr("table.csv' has 300 records, too few to see 3 columns through the noise at --rho 0.1: "
                              "2324 records at this rho (no rho does for fewer than 500), or public ranges in a "
                              "configuration"),
                    HasSubstr("nothing is spent"), Not(HasSubstr("--rho 1"))));
  const std::string more = refused(1000, "a,b", "0.1");
  EXPECT_THAT(more, HasSubstr("2324 records at this rho, or --rho 0.543, or fewer columns by --features"));
  folder.write("table.csv", fit_table(1000));
  EXPECT_EQ(fit({"--target", "y", "--features", "a,b", "--rho", "0.543"}).code, 0);
  folder.write("table.csv", fit_table(300));
  EXPECT_EQ(fit({"--target", "y", "--features", "a,b", "--rho", "0"}).code, 64);
}

TEST_F(Fit, StopsWhereATargetIsHardlyUsableAndSaysWhatItCost) {
  const CommandResult result = fit({"--target", "c", "--features", "a", "--rho", "1"});
  EXPECT_EQ(result.code, 65);
  EXPECT_THAT(result.err, AllOf(HasSubstr("'c'"), HasSubstr("rho 1 is spent")));
  EXPECT_THAT(result.out, Not(HasSubstr("estimate")));
  EXPECT_EQ(ledger_rho(), "1.000000");
}

/// A target that is 0 but for a share of the rows, where its mean is 4.
std::string mostly_zeros(double share) {
  std::string csv = "a,y\n";
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::exponential_distribution<double> exponential(0.25);
  std::bernoulli_distribution is_other(share);
  for (std::size_t i = 0; i < 20'000; ++i) {
    csv += std::to_string(normal(random)) + "," + std::to_string(is_other(random) ? exponential(random) : 0) + "\n";
  }
  return csv;
}

// The mean is .2, whose standard error by sampling is .009.
TEST_F(Fit, SeesTheFewTargetsThatAreNotZero) {
  static_cast<void>(folder.write("table.csv", mostly_zeros(0.05)));
  const CommandResult result = fit({"--target", "y", "--rho", "0.1", "--insecure-seed", "1", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NEAR(member(result, "estimate", "intercept"), 0.2, 0.06);
}

TEST_F(Fit, StopsWhereNoiseHidesAllTargetsButOneValue) {
  static_cast<void>(folder.write("table.csv", mostly_zeros(0.0005)));
  const CommandResult result = fit({"--target", "y", "--rho", "0.1", "--insecure-seed", "1"});
  EXPECT_EQ(result.code, 65);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, AllOf(HasSubstr("noise hides all values of 'y' but one"), HasSubstr("in the ledger")));
  EXPECT_EQ(ledger_rho({"--insecure-seed", "1"}), "0.100000");
}

TEST_F(Fit, StopsWhereNoiseHidesOneOfTwoLabels) {
  std::string csv = "a,y\n";
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 20'000; ++i) csv += std::to_string(normal(random)) + ",1\n";
  static_cast<void>(folder.write("table.csv", csv));
  const CommandResult result = fit({"--target", "y", "--logistic", "--rho", "0.1", "--insecure-seed", "1"});
  EXPECT_EQ(result.code, 65);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, AllOf(HasSubstr("noise hides one of the two labels of 'y': nearly all that count are 1,"),
                                HasSubstr("in the ledger")));
  EXPECT_EQ(ledger_rho({"--insecure-seed", "1"}), "0.100000");
}

// Counts have no interval, but a reader has to see whether a coefficient is more than noise.
TEST_F(Fit, ShowsTheSizeOfTheNoiseWhereThereIsNoInterval) {
  const std::vector<std::string> counts{"--target", "n", "--features", "a", "--poisson", "--rho", "0.1"};
  std::string csv = "a,n\n";
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 20'000; ++i) {
    const double a = normal(random);
    csv += std::to_string(a) + "," + std::to_string(std::poisson_distribution<int>(std::exp(1 + 0.3 * a))(random)) +
           "\n";
  }
  static_cast<void>(folder.write("table.csv", csv));
  const CommandResult text = fit(counts);
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("noise (1 s.d.)"), HasSubstr("noise is what privacy adds"),
                              HasSubstr("no interval: how far counts spread")));
  std::vector<std::string> as_json = counts;
  as_json.emplace_back("--json");
  const CommandResult json = fit(as_json);
  std::vector<std::string> as_page = counts;
  const std::string report = (folder.path() / "fit.html").string();
  for (const std::string& each : {std::string("--report"), report}) as_page.push_back(each);
  ASSERT_EQ(fit(as_page).code, 0);
  EXPECT_THAT(read_file(report), HasSubstr("What privacy adds to each coefficient has a standard deviation of "));
  EXPECT_GT(member(json, "noise_stddev", "a"), 0.001);
  EXPECT_LT(member(json, "noise_stddev", "a"), 0.1);
}

TEST_F(Fit, ReadsJsonLinesAndMaps) {
  std::string lines;
  std::mt19937_64 random(3);
  std::lognormal_distribution<double> price;
  std::normal_distribution<double> normal;
  for (int i = 0; i < 5000; ++i) {
    const double p = price(random);
    lines += "{\"p\":" + std::to_string(p) +
             ",\"q\":" + std::to_string(std::exp(1 - 0.5 * std::log(p) + 0.3 * normal(random))) + "}\n";
  }
  const std::string path = folder.write("t.jsonl", lines);
  const CommandResult result = run_command(
      NUSTREAM_COMMAND,
      {"fit", path, "--target", "log(q)", "--features", "log(p)", "--rho", "1", "--json", "--insecure-seed", "5"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NEAR(member(result, "estimate", "log(p)"), -0.5, 0.05);
  const CommandResult mean = run_command(NUSTREAM_COMMAND, {"fit", path, "--target", "log(q)", "--mean", "--rho", "1",
                                                            "--json", "--insecure-seed", "5"});
  ASSERT_EQ(mean.code, 0) << mean.err;
  EXPECT_NEAR(member(mean, "estimate", "intercept"), 1, 0.1);
}

/// Rows of a, of a yes that is 1 where 2(a − 100)/3 plus a normal number is above 0.2, and of counts with mean e^(1 +
/// .3(a − 100)/3).
std::string answers(std::size_t rows = 12'000) {
  std::string csv = "a,yes,count\n";
  std::mt19937_64 random(13);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < rows; ++i) {
    const double z = normal(random);
    const bool yes = std::bernoulli_distribution(1 / (1 + std::exp(-1.5 * z)))(random);
    const int count = std::poisson_distribution<int>(std::exp(1 + 0.3 * z))(random);
    csv += std::to_string(100 + 3 * z) + (yes ? ",1," : ",0,") + std::to_string(count) + "\n";
  }
  return csv;
}

// The slopes of a are .5 and .1, with standard errors of .01 and .002 by sampling, and about as much by noise.
TEST_F(Fit, FitsLogisticAndPoissonModels) {
  const std::string path = folder.write("answers.csv", answers());
  const auto of = [&](const char* target, const char* model) {
    return run_command(NUSTREAM_COMMAND, {"fit", path, "--target", target, model, "--features", "a", "--rho", "1",
                                          "--json", "--insecure-seed", "5", "--write-config", path + target});
  };
  const CommandResult logistic = of("yes", "--logistic");
  ASSERT_EQ(logistic.code, 0) << logistic.err;
  EXPECT_NEAR(member(logistic, "estimate", "a"), 0.5, 0.1);
  EXPECT_THAT(logistic.out, AllOf(HasSubstr("\"model\":\"logistic\""), HasSubstr("\"kind\":\"curvature\"")));
  const CommandResult poisson = of("count", "--poisson");
  ASSERT_EQ(poisson.code, 0) << poisson.err;
  EXPECT_NEAR(member(poisson, "estimate", "a"), 0.1, 0.02);
  for (const char* target : {"yes", "count"}) EXPECT_THAT(read_file(path + target), Not(HasSubstr("nu =")));
  EXPECT_THAT(poisson.out, AllOf(HasSubstr("\"model\":\"poisson\""), HasSubstr("\"interval\":null")));
  // A step size that spreads the iterates would move their average by the curvature of the model.
  const double slopes[] = {0.5, 0.1};
  for (const char* target : {"yes", "count"}) {
    const CommandResult check = run_command(NUSTREAM_COMMAND, {"check", path + target});
    EXPECT_EQ(check.code, 0) << check.err << check.out;
    const CommandResult run = run_command(
        NUSTREAM_COMMAND, {"replay", path + target, "--insecure-seed", "4", "--json",
                           "--set=state.directory=\"" + path + target + ".runs\"", "--set=privacy.rho=0.1"});
    ASSERT_EQ(run.code, 0) << run.err;
    const double slope = slopes[target == std::string("count")];
    EXPECT_NEAR(member(run, "average", "a"), slope, 0.08 * slope);
  }
}

TEST_F(Fit, SaysWhichTargetsALogisticModelHas) {
  const CommandResult result = fit({"--target", "y", "--logistic", "--features", "a", "--rho", "1"});
  EXPECT_EQ(result.code, 65);
  EXPECT_THAT(result.err, AllOf(HasSubstr("'y'"), HasSubstr("0 and 1"), HasSubstr("rho 1 is spent")));
}

TEST_F(Fit, TellsEpsilonAtEveryDeltaByEveryConversion) {
  const std::vector<std::string> options{"--target", "y", "--features", "a", "--delta", "1e-5,1e-7"};
  const CommandResult text = fit(options);
  ASSERT_EQ(text.code, 0) << text.err;
  for (const char* part : {"at delta 1e-05 (gaussian", "at delta 1e-07 (gaussian", "zcdp ", "zcdp-simple "}) {
    EXPECT_THAT(text.out, HasSubstr(part));
  }
  std::vector<std::string> as_json = options;
  as_json.emplace_back("--json");
  const CommandResult json = fit(as_json);
  ASSERT_EQ(json.code, 0) << json.err;
  auto told = parser.parse(json.out)["epsilons"].get_array();
  ASSERT_EQ(told.value().size(), 2U);
  EXPECT_EQ(told.at(1)["delta"].get_double().value(), 1e-7);
  EXPECT_GT(told.at(1)["zcdp"].get_double().value(), told.at(1)["gaussian"].get_double().value());
}

TEST_F(Fit, WritesAConfigurationWithItsKeyDirectoryAndSums) {
  const std::string config = (folder.path() / "used.toml").string();
  const CommandResult result = fit({"--target", "y", "--features", "a,b", "--write-config", config});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(read_file(config), HasSubstr("key_directory = \"" + (folder.path() / "keys").string() + "\"\n"));
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"replay", config, "--quiet"}).code, 0);
  const CommandResult solved = run_command(NUSTREAM_COMMAND, {"solve", config, "--target", "a", "--json"});
  EXPECT_EQ(solved.code, 0) << solved.err;
}

TEST_F(Fit, WritesAConfigurationThatIsValid) {
  const std::string config = (folder.path() / "used.toml").string();
  const CommandResult result = fit({"--target", "y", "--features", "a,b", "--write-config", config});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("is a second spend"));
  const CommandResult check = run_command(NUSTREAM_COMMAND, {"check", config});
  EXPECT_EQ(check.code, 0) << check.err << check.out;
}

TEST_F(Fit, WritesAConfigurationWhoseRunComesAsNear) {
  const std::string config = (folder.path() / "used.toml").string();
  const CommandResult result =
      fit({"--target", "y", "--features", "a,b", "--rho", "1", "--insecure-seed", "3", "--write-config", config});
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string written = read_file(config);
  EXPECT_THAT(written,
              AllOf(HasSubstr("estimator = \"moments\""), HasSubstr("releases = 100"), Not(HasSubstr("nu ="))));
  const CommandResult run = run_command(NUSTREAM_COMMAND, {"replay", config, "--insecure-seed", "4", "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NEAR(member(run, "estimate", "a"), 2, 0.05);
  EXPECT_NEAR(member(run, "estimate", "b"), -1, 0.1);
}

// One folder for both would keep the second from running: its model is another than that of the first one's releases.
TEST_F(Fit, WritesConfigurationsOfWhichEachHasAFolder) {
  const auto named = [this](const char* name) { return (folder.path() / name).string(); };
  for (const auto& [name, features] : {std::pair("one", "a"), std::pair("other", "a,b")}) {
    const std::string config = named(name) + ".toml";
    ASSERT_EQ(fit({"--target", "y", "--features", features, "--write-config", config}).code, 0);
    EXPECT_THAT(read_file(config), HasSubstr("directory = \"" + named(name) + ".runs\"\n"));
    const CommandResult run = run_command(NUSTREAM_COMMAND, {"replay", config, "--quiet"});
    EXPECT_EQ(run.code, 0) << run.err;
  }
}

TEST_F(Fit, RefusesAConfigurationThatCannotBeWrittenBeforeAnythingIsSpent) {
  const std::string config = (folder.path() / "nowhere" / "used.toml").string();
  const CommandResult result = fit({"--target", "y", "--features", "a", "--write-config", config});
  EXPECT_EQ(result.code, 74);
  EXPECT_THAT(result.err, HasSubstr("cannot write " + config));
  EXPECT_FALSE(std::filesystem::exists(file + ".fit")) << "nothing is spent";
}

TEST_F(Fit, WritesNoConfigurationOfAMean) {
  const std::string config = (folder.path() / "used.toml").string();
  const CommandResult result = fit({"--target", "y", "--mean", "--write-config", config});
  EXPECT_EQ(result.code, 64);
  EXPECT_THAT(result.err, HasSubstr("--mean takes none"));
  EXPECT_FALSE(std::filesystem::exists(file + ".fit")) << "nothing is spent";
}

TEST_F(Fit, TellsItsRangesInUnitsOfTheColumns) {
  const CommandResult result =
      fit({"--target", "y", "--features", "a,b", "--rho", "1", "--insecure-seed", "3", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NEAR(member(result, "centers", "a"), 100, 1);
  EXPECT_NEAR(member(result, "centers", "y"), 203, 3);
  EXPECT_NEAR(member(result, "scales", "a"), 3, 1.5);
  // The target's deviation is 6.2 and the residuals' is 1: in units of the target's scale a bound would be below 3.
  const double bound = parser.parse(result.out)["bound_residuals"].get_double().value();
  EXPECT_GT(bound, 3.5);
  EXPECT_LT(bound, 30);
  const CommandResult text = fit({"--target", "y", "--features", "a,b", "--rho", "1", "--insecure-seed", "3"});
  EXPECT_THAT(text.out, HasSubstr("in units of the target\n"));
}

}  // namespace
}  // namespace nustream::tests
