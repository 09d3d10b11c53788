// Records that count more or less than one, and columns of texts and ages, through the command. They are compared
// with least squares and rates that are computed here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "command.h"
#include "temporary_folder.h"

namespace nustream {
namespace {

using testing::HasSubstr;

/// A table with an x of two values, for which its models have closed forms.
struct Rows {
  std::string csv = "x,y,n,days,rate\n";
  std::array<double, 2> weight{};    // Σ w where x = 0 and where x = 1
  std::array<double, 2> sum{};       // Σ w y
  std::array<double, 2> counted{};   // Σ y
  std::array<double, 2> exposure{};  // Σ days
};

Rows rows(std::size_t count) {
  std::mt19937_64 random(7);
  Rows rows;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t x = random() % 2;
    const double days = 0.5 + static_cast<double>(random() % 8) / 4;
    const double y = static_cast<double>(std::poisson_distribution<int>(days * (x == 0 ? 1.0 : 1.6))(random));
    const double n = static_cast<double>(random() % 9);  // the bound is 5
    rows.csv += fmt::format("{},{},{},{},{}\n", x, y, n, days, y / days);
    const double w = std::min(n, 5.0);
    rows.weight[x] += w;
    rows.sum[x] += w * y;
    rows.counted[x] += y;
    rows.exposure[x] += days;
  }
  return rows;
}

class WeightedRecords : public testing::Test {
 protected:
  static constexpr const char* common =
      "[stream]\nname = \"w\"\ninput = \"rows.csv\"\n[target]\ncolumn = \"y\"\n"
      "[privacy]\nrho = 1e9\ndelta = 1e-6\n[[features]]\ncolumn = \"x\"\n";

  WeightedRecords() { folder_.write("rows.csv", rows_.csv); }

  /// The estimate of a run over the rows.
  std::vector<double> estimate(const std::string& command, const std::string& settings) const {
    const tests::CommandResult result = run(command, settings);
    EXPECT_EQ(result.code, 0) << result.err;
    simdjson::dom::parser parser;
    const simdjson::dom::element found = parser.parse(result.out);
    std::vector<double> values;
    for (const auto& [name, value] : found["estimate"].get_object()) values.push_back(double(value));
    return values;
  }
  tests::CommandResult run(const std::string& command, const std::string& settings,
                           const std::vector<std::string>& more = {}) const {
    const std::string config = folder_.write("stream.toml", common + settings);
    const std::string state = (folder_.path() / fmt::format("state-{}", runs_++)).string();
    std::vector<std::string> arguments{command, config, "--json", "--set", "state.directory=\"" + state + "\""};
    if (command != "audit") arguments.insert(arguments.end(), {"--insecure-seed", "3"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return tests::run_command(NUSTREAM_COMMAND, arguments);
  }

  tests::TemporaryFolder folder_;
  Rows rows_ = rows(4000);
  mutable int runs_ = 0;
};

// Sums solve for the weighted means of y where x is 0 and where it is 1.
TEST_F(WeightedRecords, SumsComeToWeightedLeastSquares) {
  const std::vector<double> found = estimate(
      "replay",
      "[model]\nestimator = \"moments\"\n[moments]\nrow_norm = 4\nresidual_bound = 40\n[release]\nevery = 4000\n"
      "[weight]\ncolumn = \"n\"\nmax = 5\n");
  ASSERT_EQ(found.size(), 2U);
  const double at_0 = rows_.sum[0] / rows_.weight[0];
  const double at_1 = rows_.sum[1] / rows_.weight[1];
  EXPECT_NEAR(found[0], at_0, 1e-3);
  EXPECT_NEAR(found[1], at_1 - at_0, 1e-3);
}

// Full-batch descents come to the same; their noise and clip norms have no effect here.
TEST_F(WeightedRecords, DescentsComeToWeightedLeastSquares) {
  const std::vector<double> found =
      estimate("estimate",
               "[descent]\nstep_size = 0.15\nclip_norm = 1000\n[estimate]\nsteps = 400\n"
               "[weight]\ncolumn = \"n\"\nmax = 5\n");
  const double at_0 = rows_.sum[0] / rows_.weight[0];
  EXPECT_NEAR(found[0], at_0, 2e-3);
  EXPECT_NEAR(found[0] + found[1], rows_.sum[1] / rows_.weight[1], 2e-3);
}

// Rates are counts over what they were counted over.
TEST_F(WeightedRecords, ExposuresComeToRates) {
  const std::vector<double> found =
      estimate("estimate",
               "[model]\nloss = \"poisson\"\n[descent]\nstep_size = 0.2\nclip_norm = 1000\n"
               "[estimate]\nsteps = 400\n[exposure]\ncolumn = \"days\"\nmax = 10\n");
  EXPECT_NEAR(std::exp(found[0]), rows_.counted[0] / rows_.exposure[0], 2e-3);
  EXPECT_NEAR(std::exp(found[0] + found[1]), rows_.counted[1] / rows_.exposure[1], 2e-3);
}

// An audit's games are of records that count as more than their bound. What they prove is nearly what is claimed, and
// no more.
TEST_F(WeightedRecords, AuditsPlayWithWeights) {
  const std::string descent = "[descent]\nstep_size = 0.2\nclip_norm = 1\n[noise]\nnu = 0.2\n";
  const std::string weight = "[weight]\ncolumn = \"n\"\nmax = 5\n";
  const std::string exposure = "[model]\nloss = \"poisson\"\n[exposure]\ncolumn = \"days\"\nmax = 10\n";
  const std::string sums = "[model]\nestimator = \"moments\"\n[moments]\nrow_norm = 4\nresidual_bound = 40\n";
  for (const std::string& settings :
       {descent + weight, exposure + descent, exposure + descent + weight, sums + weight}) {
    const tests::CommandResult found =
        run("audit", settings, {"--set", "privacy.rho=0.5", "--runs", "24000", "--steps", "2"});
    ASSERT_EQ(found.code, 0) << settings << found.err << found.out;
    simdjson::dom::parser parser;
    const simdjson::dom::element finding = parser.parse(found.out);
    EXPECT_GT(double(finding["mu_lower_bound"]), 0.75 * double(finding["mu"])) << settings << found.out;
    EXPECT_EQ(double(finding["shorter_share"]), 0) << settings << ": the weight makes the record as long as any";
    EXPECT_LE(double(finding["mu_lower_bound"]), double(finding["mu"])) << settings;
  }
}

// Settings are measured from rows times the roots of their weights.
TEST_F(WeightedRecords, SettingsAreMeasuredWithWeights) {
  const std::vector<double> found =
      estimate("replay",
               "[model]\nestimator = \"moments\"\n[moments]\nrow_norm = \"private\"\nresidual_bound = \"private\"\n"
               "[release]\nevery = 4000\n[ranges]\nshare = 1e-4\n[weight]\ncolumn = \"n\"\nmax = 5\n");
  ASSERT_EQ(found.size(), 2U);
  const double at_0 = rows_.sum[0] / rows_.weight[0];
  // Bounds of finite reach clip some of the counts: a tenth of a standard deviation.
  EXPECT_NEAR(found[0], at_0, 0.15);
  EXPECT_NEAR(found[1], rows_.sum[1] / rows_.weight[1] - at_0, 0.15);
  const std::vector<double> rate =
      estimate("estimate",
               "[model]\nloss = \"poisson\"\n[descent]\nstep_size = 0.2\nclip_norm = \"private\"\n"
               "[estimate]\nsteps = 400\n[ranges]\nshare = 1e-4\n[exposure]\ncolumn = \"days\"\nmax = 10\n");
  ASSERT_EQ(rate.size(), 2U);
  EXPECT_NEAR(std::exp(rate[0]), rows_.counted[0] / rows_.exposure[0], 0.1);
}

TEST_F(WeightedRecords, AFitWithoutAConfigurationCountsThem) {
  const auto fit = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"fit", (folder_.path() / "rows.csv").string(), "--target", "y", "--features", "x",
                               "--rho", "1000", "--insecure-seed", "3"});
    return tests::run_command(NUSTREAM_COMMAND, more);
  };
  const std::string settings = (folder_.path() / "used.toml").string();
  const tests::CommandResult found =
      fit({"--weight", "n", "--weight-bound", "5", "--json", "--write-config", settings});
  ASSERT_EQ(found.code, 0) << found.err;
  simdjson::dom::parser parser;
  const simdjson::dom::element fitted = parser.parse(found.out);
  EXPECT_NEAR(double(fitted["estimate"]["intercept"]), rows_.sum[0] / rows_.weight[0], 0.15);
  EXPECT_EQ(std::string(fitted["weight"]), "n");
  EXPECT_EQ(double(fitted["weight_bound"]), 5);
  EXPECT_TRUE(fitted["interval"].is_null());
  EXPECT_THAT(tests::read_file(settings), HasSubstr("[weight]\ncolumn = \"n\"\ntransform = \"identity\"\nmax = 5\n"));
  EXPECT_EQ(tests::run_command(NUSTREAM_COMMAND, {"check", settings}).code, 0);
  EXPECT_THAT(
      fit({"--weight", "n", "--weight-bound", "5"}).out,
      testing::AllOf(HasSubstr("a record counts as its n, at most 5"), HasSubstr("no interval: weights may")));
  const tests::CommandResult unbounded = fit({"--weight", "n"});
  EXPECT_EQ(unbounded.code, 64);
  EXPECT_THAT(unbounded.err, HasSubstr("--weight-bound"));
}

// A rate over each record's days, which weighs as many days, up to the bound.
TEST_F(WeightedRecords, AFitWithoutAConfigurationMakesRatesOfCounts) {
  const auto fit = [&](const std::string& state, std::vector<std::string> more) {
    more.insert(more.begin(), {"fit", (folder_.path() / "rows.csv").string(), "--features", "x", "--poisson", "--rho",
                               "1000", "--insecure-seed", "3", "--state", (folder_.path() / state).string()});
    return tests::run_command(NUSTREAM_COMMAND, more);
  };
  const auto estimate_of = [](const tests::CommandResult& result) {
    EXPECT_EQ(result.code, 0) << result.err;
    simdjson::dom::parser parser;
    const simdjson::dom::element found = parser.parse(result.out);
    return std::pair(double(found["estimate"]["intercept"]), double(found["estimate"]["x"]));
  };
  const std::string settings = (folder_.path() / "rates.toml").string();
  const tests::CommandResult found = fit("by-days", {"--target", "y", "--exposure", "days", "--exposure-bound", "10",
                                                     "--json", "--write-config", settings});
  const auto [constant, slope] = estimate_of(found);
  EXPECT_NEAR(std::exp(constant), rows_.counted[0] / rows_.exposure[0], 0.06);
  EXPECT_NEAR(std::exp(constant + slope), rows_.counted[1] / rows_.exposure[1], 0.06);
  EXPECT_THAT(found.out, HasSubstr("\"exposure\":\"days\",\"exposure_is_log\":false,\"exposure_bound\":10"));
  EXPECT_THAT(tests::read_file(settings),
              HasSubstr("[exposure]\ncolumn = \"days\"\ntransform = \"identity\"\nmax = 10\n"));
  EXPECT_EQ(tests::run_command(NUSTREAM_COMMAND, {"check", settings}).code, 0);
  const auto by_offset =
      estimate_of(fit("by-offset", {"--target", "y", "--offset", "log(days)", "--exposure-bound", "10", "--json"}));
  // Rounding moves rates that lie on the edge of a histogram's bin, and so a little of what is measured.
  EXPECT_NEAR(by_offset.first, constant, 0.03);
  EXPECT_NEAR(by_offset.second, slope, 0.03);
  // The bound is about what a record weighs, and its rate stays the one over all of its days.
  const auto bounded =
      estimate_of(fit("bounded", {"--target", "y", "--exposure", "days", "--exposure-bound", "1", "--json"}));
  const auto weighted =
      estimate_of(fit("weighted", {"--target", "rate", "--weight", "days", "--weight-bound", "1", "--json"}));
  EXPECT_NEAR(bounded.first, weighted.first, 1e-9);
  EXPECT_NEAR(bounded.second, weighted.second, 1e-9);
  EXPECT_GT(std::fabs(bounded.first - constant), 1e-6);
  EXPECT_THAT(fit("as-text", {"--target", "y", "--exposure", "days", "--exposure-bound", "10"}).out,
              HasSubstr("; a count is over its days, which weighs at most 10\n"));
}

TEST_F(WeightedRecords, AFitRefusesAnExposureThatSaysNothing) {
  const auto refused = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"fit", (folder_.path() / "rows.csv").string(), "--target", "y", "--features", "x"});
    const tests::CommandResult result = tests::run_command(NUSTREAM_COMMAND, more);
    EXPECT_EQ(result.code, 64) << result.err;
    return result.err;
  };
  EXPECT_THAT(refused({"--exposure", "days", "--exposure-bound", "10"}),
              HasSubstr("--exposure 'days': only counts are made over an exposure: add --poisson"));
  EXPECT_THAT(refused({"--logistic", "--offset", "days", "--exposure-bound", "10"}),
              HasSubstr("--offset 'days': only"));
  EXPECT_THAT(refused({"--poisson", "--exposure", "days"}), HasSubstr("--exposure 'days' needs --exposure-bound"));
  EXPECT_THAT(refused({"--poisson", "--exposure", "y", "--exposure-bound", "10"}),
              HasSubstr("--exposure 'y': that is the target's column"));
  EXPECT_THAT(
      refused({"--poisson", "--exposure-bound", "10"}),
      HasSubstr("there is no --exposure and no --offset that it would bound: add --exposure COLUMN, with the "));
}

// Days that are 0 make a record unusable, and the operator is told.
TEST_F(WeightedRecords, AFitTellsOfExposuresThatAreNone) {
  std::string csv = "x,y,days\n";
  for (int i = 0; i < 6000; ++i) csv += fmt::format("{},{},{}\n", i % 7, i % 3, i % 4 == 0 ? 0 : 2);
  const tests::CommandResult looked = tests::run_command(
      NUSTREAM_COMMAND, {"fit", folder_.write("zeros.csv", csv), "--target", "y", "--features", "x", "--poisson",
                         "--exposure", "days", "--exposure-bound", "10", "--look"});
  EXPECT_EQ(looked.code, 0) << looked.err;
  EXPECT_THAT(looked.out,
              testing::AllOf(HasSubstr("of which 4,500 (75%) can be used"),
                             HasSubstr("1,500 of 6,000 records (25%) have no exposure in 'days': most often "
                                       "not above 0, or not finite, so not an exposure (such as line 2)")));
}

TEST_F(WeightedRecords, AreRefusedWhereNobodyWouldCountThem) {
  const std::string descent = "[descent]\nstep_size = 0.2\nclip_norm = 1\n[noise]\nnu = 0.2\n";
  const tests::CommandResult exposure = run("replay", descent + "[exposure]\ncolumn = \"days\"\nmax = 10\n");
  EXPECT_EQ(exposure.code, 78);
  EXPECT_THAT(exposure.err, HasSubstr("poisson"));
}

}  // namespace
}  // namespace nustream
