// With the noise off and as many passes as it takes, the lane arrives where statsmodels, scipy and arithmetic say.
//
// Reference numbers: statsmodels 0.15.0 (OLS; Logit by Newton; Poisson GLM), scipy 1.17.1 (Huber of fixed
// threshold, BFGS and Newton polish). Data: tests/golden/data/README.md. Columns are standardised with ddof 0.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "support/lane_table.h"
#include "support/lane_world.h"

namespace nustream::tests {
namespace {

using Kind = model::Loss::Kind;

const std::vector<std::string> bike_columns = {"season",     "yr",         "mnth", "hr",    "holiday", "weekday",
                                               "workingday", "weathersit", "temp", "atemp", "hum",     "windspeed"};
std::vector<std::vector<double>> standardised_columns(const Table& table, const std::vector<std::string>& names) {
  std::vector<std::vector<double>> columns;
  for (const std::string& name : names) columns.push_back(standardised(table.column(name)));
  return columns;
}

// Takes `passes` steps over the whole table, with the noise at zero and the clip norm out of reach.
std::vector<double> fit(const record::RowBatch& rows, model::Loss loss, double step_size, std::size_t passes,
                        std::vector<double> start = {}) {
  auto settings = settings_for(rows.dimension, loss, 1e6, step_size);
  settings.minibatch = rows.count();
  settings.release_every = passes + 1;
  if (!start.empty()) settings.start = std::move(start);
  lane::Lane lane(settings, grid_for(settings, 8.0), Position{0});  // a spacing of about 2^-29
  const std::vector<std::int64_t> silence(rows.dimension);
  lane::Releases releases;
  for (std::size_t pass = 0; pass < passes; ++pass) {
    lane.advance(slice(rows, 0, rows.count()), {StepIndex{pass}, rows.dimension, silence}, releases);
  }
  EXPECT_EQ(lane.clipped(), 0U);
  return {lane.theta().begin(), lane.theta().end()};
}

void expect_near(const std::vector<double>& theta, const std::vector<double>& reference) {
  ASSERT_EQ(theta.size(), reference.size());
  for (std::size_t j = 0; j < theta.size(); ++j) EXPECT_NEAR(theta[j], reference[j], 1e-3) << "coefficient " << j;
}

double mean_loss(const record::RowBatch& rows, const model::Loss& loss, const std::vector<double>& theta) {
  double total = 0;
  for (std::size_t i = 0; i < rows.count(); ++i) {
    total += model::value(loss, theta, std::span(rows.x).subspan(i * rows.dimension, rows.dimension), rows.y[i]);
  }
  return total / static_cast<double>(rows.count());
}

TEST(Fits, MeanOfBikeColumns) {
  const Table bike = read_table("bike_hour.csv.gz");
  record::RowBatch rows;
  rows.dimension = 4;
  std::vector<double> means(4);
  const char* const names[] = {"temp", "atemp", "hum", "windspeed"};
  for (std::size_t i = 0; i < bike.columns[0].size(); ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      rows.x.push_back(bike.column(names[j])[i]);
      means[j] += rows.x.back();
    }
    rows.y.push_back(0);
    rows.next.push_back(i + 1);
  }
  for (double& mean : means) mean /= static_cast<double>(rows.count());
  expect_near(fit(rows, {Kind::mean}, 0.5, 40), means);

  // One pass, record by record, with η_t = 1/(1 + t): the iterate is the running mean.
  auto settings = settings_for(4, {Kind::mean}, 8.0);
  settings.schedule = descent::Schedule{descent::Inverse{StepSize{1}, 1}};
  lane::Lane lane(settings, grid_for(settings), Position{0});
  const std::vector<std::int64_t> silence(rows.x.size());
  lane::Releases releases;
  lane.advance(slice(rows, 0, rows.count()), {StepIndex{0}, 4, silence}, releases);
  for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(lane.theta()[j], means[j], 1e-8);
}

TEST(Fits, LinearOnBike) {
  const Table bike = read_table("bike_hour.csv.gz");
  std::vector<double> log_count = bike.column("cnt");
  for (double& entry : log_count) entry = std::log1p(entry);
  const auto rows = design(standardised_columns(bike, bike_columns), log_count);
  expect_near(fit(rows, {Kind::linear}, 0.5, 2500),
              {4.574738675088298, 0.17017821709208475, 0.20666132753386557, -0.002478406931119766, 0.6697939529992689,
               -0.030183644533759692, 0.03578185149371918, -0.022509829744752928, 0.0008094769876052129,
               0.0364787331322005, 0.3481947743517533, -0.2722673782988092, 0.04145254884075248});
}

TEST(Fits, HuberOnBike) {
  const Table bike = read_table("bike_hour.csv.gz");
  const auto rows = design(standardised_columns(bike, bike_columns), standardised(bike.column("cnt")));
  const model::Loss huber{Kind::huber, 1.0};
  const auto theta = fit(rows, huber, 0.5, 2500);
  expect_near(theta, {-0.08415166686355996, 0.10368375657086464, 0.17023089649791381, 0.0001122543483838607,
                      0.28154352189766774, -0.01656553571808939, 0.02013501757759427, -0.017386992595986944,
                      0.0013054548816394597, 0.07821191593413133, 0.20463077595779605, -0.21340287459956137,
                      0.025834094478840677});
  EXPECT_NEAR(mean_loss(rows, huber, theta), 0.25701719963093633, 1e-6);
}

// The condition number of the Hessian is 2,900, so the objective is compared, and not the coefficients.
TEST(Fits, LogisticOnCovtype) {
  const Table covtype = read_table("covtype.csv.gz");
  const auto columns = standardised_columns(covtype, covtype_columns);
  struct Case {
    double cover;
    double mean_log_loss;
  };
  for (const Case& reference : {Case{2, 0.3692772232099127}, Case{5, 0.37981375985287125}}) {
    std::vector<double> label = covtype.column("Cover_Type");
    for (double& entry : label) entry = entry == reference.cover ? 1 : 0;
    const auto rows = design(columns, label);
    const auto theta = fit(rows, {Kind::logistic}, 3.0, 6000);
    EXPECT_NEAR(mean_loss(rows, {Kind::logistic}, theta), reference.mean_log_loss, 1e-6);
  }
}

TEST(Fits, PoissonOnBike) {
  const Table bike = read_table("bike_hour.csv.gz");
  const auto rows = design(standardised_columns(bike, bike_columns), bike.column("cnt"));
  std::vector<double> start(13);
  start[0] = 5;
  expect_near(fit(rows, {Kind::poisson}, 0.002, 3000, start),
              {5.0512179946, .1289448097, .2196580396, .0243813313, .3160164084, -.0220527141, .0154676581,
               .0098805108, -.0135049543, .0082582648, .2837458518, -.1964125901, .0375566621});
}

}  // namespace
}  // namespace nustream::tests
