// `nustream estimate` is compared with other people's fits of whole tables (statsmodels 0.15.0 and SciPy; the numbers
// are those of tests/golden/lane_fits_test.cpp), with all columns and next to no noise.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "configured_command.h"
#include "lane_table.h"

namespace nustream::tests {
namespace {

const std::vector<std::string> bike_features = {"season",     "yr",         "mnth", "hr",    "holiday", "weekday",
                                                "workingday", "weathersit", "temp", "atemp", "hum",     "windspeed"};

std::string head_of(const std::string& table, const std::string& target) {
  return fmt::format("[stream]\nname = \"fit\"\ninput = \"{}/golden/data/{}.csv.gz\"\n[target]\n{}\n",
                     NUSTREAM_TESTS_DIR, table, target);
}

/// Centres and scales every column by its own mean and standard deviation (ddof 0).
std::string placed(const Table& table, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    const Placement placement = placement_of(table.column(name));
    text += fmt::format("[[features]]\ncolumn = \"{}\"\ncenter = {:.17g}\nscale = {:.17g}\n", name, placement.mean,
                        placement.stddev);
  }
  return text;
}

std::string descent_of(const std::string& loss, int steps, double step_size) {
  return fmt::format(
      "[model]\n{}\n[descent]\nstep_size = {}\nclip_norm = 1e3\n[release]\nevery = {}\n[privacy]\nrho = 1e15\ndelta "
      "= "
      "1e-6\n[estimate]\nsteps = {}\n",
      loss, step_size, steps, steps);
}

/// Expects these coefficients of the standardised columns, and of a target that `target` places, given those in
/// original units.
void expect_standardised(JsonOutput& found, const Table& table, const Placement& target,
                         const std::vector<double>& expected) {
  double at_the_means = found.value("estimate", "intercept");
  for (std::size_t j = 0; j < bike_features.size(); ++j) {
    const Placement placement = placement_of(table.column(bike_features[j]));
    const double slope = found.value("estimate", bike_features[j].c_str());
    at_the_means += slope * placement.mean;
    EXPECT_NEAR(slope * placement.stddev / target.stddev, expected[j + 1], 1e-3) << bike_features[j];
  }
  EXPECT_NEAR((at_the_means - target.mean) / target.stddev, expected[0], 1e-3);
}

TEST(EstimateFits, LinearOnBike) {
  const Table bike = read_table("bike_hour.csv.gz");
  const TemporaryFolder folder;
  JsonOutput found = run_configured("estimate", folder,
                                    head_of("bike_hour", "column = \"cnt\"\ntransform = \"log1p\"") +
                                        placed(bike, bike_features) + descent_of("loss = \"linear\"", 2500, 0.5));
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  expect_standardised(
      found, bike, {0, 1},
      {4.574738675088298, 0.17017821709208475, 0.20666132753386557, -0.002478406931119766, 0.6697939529992689,
       -0.030183644533759692, 0.03578185149371918, -0.022509829744752928, 0.0008094769876052129, 0.0364787331322005,
       0.3481947743517533, -0.2722673782988092, 0.04145254884075248});
}

TEST(EstimateFits, HuberOnBike) {
  const Table bike = read_table("bike_hour.csv.gz");
  const Placement count = placement_of(bike.column("cnt"));
  const TemporaryFolder folder;
  JsonOutput found = run_configured(
      "estimate", folder,
      head_of("bike_hour",
              fmt::format("column = \"cnt\"\ncenter = {:.17g}\nscale = {:.17g}", count.mean, count.stddev)) +
          placed(bike, bike_features) + descent_of("loss = \"huber\"\nthreshold = 1.0", 2500, 0.5));
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  expect_standardised(
      found, bike, count,
      {-0.08415166686355996, 0.10368375657086464, 0.17023089649791381, 0.0001122543483838607, 0.28154352189766774,
       -0.01656553571808939, 0.02013501757759427, -0.017386992595986944, 0.0013054548816394597, 0.07821191593413133,
       0.20463077595779605, -0.21340287459956137, 0.025834094478840677});
}

// The Hessian's condition is 2,900, so that the losses are compared and not the coefficients.
TEST(EstimateFits, LogisticOnCovtype) {
  struct Case {
    int cover;
    double mean_log_loss;
  };
  const Table covtype = read_table("covtype.csv.gz");
  for (const Case& reference : {Case{2, 0.3692772232099127}, Case{5, 0.37981375985287125}}) {
    const TemporaryFolder folder;
    JsonOutput found = run_configured(
        "estimate", folder,
        head_of("covtype",
                fmt::format("column = \"Cover_Type\"\ntransform = \"indicator\"\nequals = \"{}\"", reference.cover)) +
            placed(covtype, covtype_columns) + descent_of("loss = \"logistic\"", 6000, 3.0));
    ASSERT_EQ(found.command.code, 0) << found.command.err;
    std::vector<double> predictor(covtype.columns.front().size(), found.value("estimate", "intercept"));
    for (const std::string& name : covtype_columns) {
      const double slope = found.value("estimate", name.c_str());
      const std::vector<double>& column = covtype.column(name);
      for (std::size_t i = 0; i < column.size(); ++i) predictor[i] += slope * column[i];
    }
    const std::vector<double>& cover = covtype.column("Cover_Type");
    double loss = 0;
    for (std::size_t i = 0; i < cover.size(); ++i) {
      loss += std::log1p(std::exp(cover[i] == reference.cover ? -predictor[i] : predictor[i]));
    }
    EXPECT_NEAR(loss / static_cast<double>(cover.size()), reference.mean_log_loss, 1e-5) << reference.cover;
  }
}

// There are fewer records than columns: the operator is told that the answer is one of many.
TEST(EstimateFits, FewerRecordsThanColumnsIsTold) {
  const TemporaryFolder folder;
  folder.write("rows.csv", "a,b,c,y\n1,2,3,4\n2,1,0,3\n");
  JsonOutput found = run_configured("estimate", folder, R"([stream]
name = "few"
input = "rows.csv"
[target]
column = "y"
[[features]]
column = "a"
[[features]]
column = "b"
[[features]]
column = "c"
[descent]
step_size = 0.05
clip_norm = 10
[privacy]
rho = 1
delta = 1e-6
[estimate]
steps = 5
)");
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  const std::string_view told = found.for_operator["degeneracy"];
  EXPECT_NE(told.find("rank 2 of 4"), std::string_view::npos) << told;
  EXPECT_NE(told.find("fewer records than columns"), std::string_view::npos) << told;
}

}  // namespace
}  // namespace nustream::tests
