// What a bound on residuals leaves of the pilot's error, against a case by hand.
#include "ranges/pilot.h"

#include <Eigen/LU>

#include <gtest/gtest.h>

namespace nustream::ranges {
namespace {

// Two groups of rows: (1, 0) whose residuals reach the bound, and (1, 1) whose residuals do not come near it. Only
// the first group's part of the pilot's error is left.
TEST(LeftOfPilot, IsThePartOfTheRowsBeyondTheBound) {
  Eigen::Matrix2d near;  // Σ xxᵀ of 300 rows (1, 1)
  near << 300, 300, 300, 300;
  Eigen::Matrix2d far;  // and of 100 rows (1, 0)
  far << 100, 0, 0, 0;
  const double bound = 2;
  const double share = 0.4;
  const Eigen::MatrixXd second = near + far;
  const Eigen::MatrixXd meat = share * bound * bound * far;
  const Eigen::MatrixXd left = second.inverse() * share * far;
  const Eigen::Matrix2d of_pilot = Eigen::Vector2d(3, 5).asDiagonal();
  const Eigen::MatrixXd found = left_of_pilot(second, {meat, 0, 0, bound}, of_pilot);
  EXPECT_LT((found - left * of_pilot * left.transpose()).norm(), 1e-9 * of_pilot.norm());
  EXPECT_GT(found.norm(), 0.01);
  // What the residuals of most rows and the noise may add counts as no row beyond the bound.
  EXPECT_LT(left_of_pilot(second, {meat, 0, 1.2, bound}, of_pilot).norm(), 0.3 * found.norm());
  EXPECT_LT(left_of_pilot(second, {meat, 100, 0, bound}, of_pilot).norm(), 0.3 * found.norm());
}

}  // namespace
}  // namespace nustream::ranges
