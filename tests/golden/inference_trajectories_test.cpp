// Full-batch descents against trajectories and limits that were computed elsewhere.
//
// Sources: an independent implementation of the papers (trajectories without randomness); linearmodels 7.1 (2SLS).
#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <cmath>

#include "nustream/inference/two_stage_descent.h"
#include "support/lane_stages.h"

namespace nustream::tests {
namespace {

/// Takes one step over all rows, with `silence` or with noise in gradient units of the mean.
void step(lane::Lane& lane, const record::RowBatch& rows, std::span<const noise::GridNoise> noise) {
  lane::Releases releases;
  lane.advance(slice(rows, 0, rows.count()), noise, releases);
}

// DP-GD with a given noise, as in BDE+ (5): X_ij = sin((1 + i)(1 + .7j)), y_i = cos i, z_t[j] = .01 sin(3t + j).
TEST(Trajectory, OfFullBatchDescent) {
  record::RowBatch rows;
  rows.dimension = 3;
  for (std::size_t i = 0; i < 20; ++i) {
    for (int j = 0; j < 3; ++j) rows.x.push_back(std::sin((1.0 + static_cast<double>(i)) * (1 + 0.7 * j)));
    rows.y.push_back(std::cos(static_cast<double>(i)));
    rows.next.push_back(i + 1);
  }
  auto settings = settings_for(3, {}, 0.7, 0.25);
  settings.minibatch = 20;
  const noise::Grid grid = grid_for(settings, 0.01);
  lane::Lane lane(settings, grid, Position{0});
  for (std::uint64_t t = 0; t < 5; ++t) {
    std::vector<std::int64_t> units;
    for (int j = 0; j < 3; ++j) {
      units.push_back(std::llround(20 * 0.01 * std::sin(3.0 * static_cast<double>(t) + j) / grid.spacing()));
    }
    // The paper writes θ − η(…) + ηz, so its noise has the other sign.
    for (std::int64_t& entry : units) entry = -entry;
    const noise::GridNoise noise{StepIndex{t}, 3, units};
    step(lane, rows, {&noise, 1});
  }
  const double expected[] = {0.33844664272919256, 0.03438216057907559, -0.008813919462340239};
  for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(lane.theta()[j], expected[j], 1e-9);
}

struct Instruments {
  record::RowBatch rows;
  Eigen::MatrixXd z, x;
  Eigen::VectorXd y;
};

// 15 rows of Z_ij = sin((1 + i)(1 + .7j)), X_k = 2Z_k + .3 cos(i(1 + k)), y = X(1, −1) + .2 sin 5i.
Instruments instruments() {
  Instruments data{{}, Eigen::MatrixXd(15, 3), Eigen::MatrixXd(15, 2), Eigen::VectorXd(15)};
  data.rows.dimension = 5;
  for (int i = 0; i < 15; ++i) {
    for (int j = 0; j < 3; ++j) data.z(i, j) = std::sin((1.0 + i) * (1 + 0.7 * j));
    for (int k = 0; k < 2; ++k) data.x(i, k) = 2 * data.z(i, k) + 0.3 * std::cos(i * (1.0 + k));
    data.y(i) = data.x(i, 0) - data.x(i, 1) + 0.2 * std::sin(5.0 * i);
    for (int j = 0; j < 3; ++j) data.rows.x.push_back(data.z(i, j));
    for (int k = 0; k < 2; ++k) data.rows.x.push_back(data.x(i, k));
    data.rows.y.push_back(data.y(i));
    data.rows.next.push_back(static_cast<std::uint64_t>(i) + 1);
  }
  return data;
}

/// 2S-GD of T steps, without noise and with the clip norm out of reach. The grids have spacings of about 1e-13.
lane::Lane two_stage_descent(const Instruments& data, double alpha, double eta, std::uint64_t steps) {
  lane::Settings settings = settings_for(8, {}, 30, alpha);
  settings.first_stage =
      lane::FirstStage{{3, 0, 2}, ClipNorm{30}, descent::Schedule{descent::Constant{StepSize{eta}}}, 0};
  settings.minibatch = 15;
  settings.release_every = steps + 1;
  lane::Lane lane(settings, grids_for(settings, 1e-4), Position{0});
  const std::vector<std::int64_t> silence(6);
  for (std::uint64_t t = 0; t < steps; ++t) {
    const noise::GridNoise noise[] = {{StepIndex{t}, 2, std::span(silence).first(2)}, {StepIndex{t}, 6, silence}};
    step(lane, data.rows, noise);
  }
  EXPECT_EQ(lane.clipped(), 0U);
  return lane;
}

TEST(Trajectory, OfTwoStageDescent) {
  const lane::Lane lane = two_stage_descent(instruments(), 0.1, 0.5, 10);
  // β comes first, and then the columns of Θ.
  const double expected[] = {0.9223354192195204,   -0.8042381387952399,  2.1412892161933472, -0.005617950049966923,
                             0.010735306221244516, -0.01564225092265226, 1.8509532041472674, -0.033654875264195624};
  for (std::size_t j = 0; j < 8; ++j) EXPECT_NEAR(lane.theta()[j], expected[j], 1e-11) << j;
  const Instruments data = instruments();
  const auto constant = [](double size) { return descent::Schedule{descent::Constant{StepSize{size}}}; };
  inference::TwoStageDescent plain{{3, 0, 2}, constant(0.5), constant(0.1), 0, 0, {}, {}, StepCount{10}};
  const std::vector<double> beta = inference::two_stage_descent({5, data.rows.x, data.rows.y}, plain);
  for (std::size_t j = 0; j < 2; ++j) EXPECT_NEAR(beta[j], expected[j], 1e-13) << j;
  // A lane that begins where this one was after four steps goes on as this one did.
  const lane::Lane four = two_stage_descent(instruments(), 0.1, 0.5, 4);
  plain.start.assign(four.theta().begin(), four.theta().end());
  plain.steps = StepCount{6};
  const std::vector<double> resumed = inference::two_stage_descent({5, data.rows.x, data.rows.y}, plain);
  for (std::size_t j = 0; j < 2; ++j) EXPECT_NEAR(resumed[j], expected[j], 1e-11) << j;
}

// The limit of the descent is 2SLS, which is Ŷ regressed on P_Z X. The test takes T = 500 with steps that suit the
// data, and compares with the reference's own 2SLS too.
TEST(Limit, OfTwoStageDescentIsTwoStageLeastSquares) {
  const Instruments data = instruments();
  const Eigen::MatrixXd first = data.z.colPivHouseholderQr().solve(data.x);
  const Eigen::VectorXd beta = (data.z * first).colPivHouseholderQr().solve(data.y);
  EXPECT_NEAR(beta(0), 0.9829715301827031, 1e-13);
  EXPECT_NEAR(beta(1), -0.9989692804401317, 1e-13);
  const lane::Lane lane = two_stage_descent(data, 0.5, 1.5, 500);
  for (int k = 0; k < 2; ++k) EXPECT_NEAR(lane.theta()[static_cast<std::size_t>(k)], beta(k), 1e-12);
  for (int k = 0; k < 2; ++k) {
    for (int j = 0; j < 3; ++j)
      EXPECT_NEAR(lane.theta()[static_cast<std::size_t>(2 + 3 * k + j)], first(j, k), 1e-12);
  }
}

}  // namespace
}  // namespace nustream::tests
