// What a bound on residuals leaves of the pilot's error, against counts of drawn numbers.
#include "ranges/pilot_error.h"

#include <Eigen/LU>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace nustream::ranges {
namespace {

// A million draws: the standard error of a share is at most .0005.
TEST(ShareBeyond, IsThatOfNormalResiduals) {
  std::mt19937_64 engine(11);
  std::normal_distribution<double> normal;
  for (const double bound : {0.3, 1.0, 2.0, 3.0}) {
    double mean = 0;
    double beyond = 0;
    constexpr int draws = 1'000'000;
    for (int i = 0; i < draws; ++i) {
      const double size = std::fabs(normal(engine));
      mean += std::pow(std::min(size / bound, 1.0), 2) / draws;
      beyond += size > bound ? 1.0 / draws : 0;
    }
    EXPECT_NEAR(share_beyond(mean), beyond, 0.003) << bound;
  }
  EXPECT_LT(share_beyond(1e-3), 1e-12);
  EXPECT_EQ(share_beyond(-0.1), share_beyond(0));
  EXPECT_GT(share_beyond(1.5), 0.98);
}

// Two groups of rows: (1, 0) whose residuals reach the bound, and (1, 1) whose residuals do not come near it. Only
// the first group's part of the pilot's error is left.
TEST(LeftOfPilot, IsThePartOfTheRowsBeyondTheBound) {
  Eigen::Matrix2d near;  // Σ xxᵀ of 300 rows (1, 1)
  near << 300, 300, 300, 300;
  Eigen::Matrix2d far;  // and of 100 rows (1, 0)
  far << 100, 0, 0, 0;
  const double bound = 2;
  const double mean = 0.4;
  const double share = share_beyond(mean);
  ASSERT_GT(share, 0.15);
  const Eigen::MatrixXd second = near + far;
  const Eigen::MatrixXd meat = mean * bound * bound * far;
  const Eigen::MatrixXd left = second.inverse() * share * far;
  const Eigen::Matrix2d of_pilot = Eigen::Vector2d(3, 5).asDiagonal();
  const Eigen::MatrixXd found = left_of_pilot(second, meat, bound, of_pilot);
  EXPECT_LT((found - left * of_pilot * left.transpose()).norm(), 1e-9 * of_pilot.norm());
  EXPECT_GT(found.norm(), 0.01);
}

}  // namespace
}  // namespace nustream::ranges
