// Least squares and two-stage least squares from second moments of a table (inference/moments.h). Not private: they
// serve comparisons and tests of a table's rank.
#include "nustream/inference/least_squares.h"

#include <Eigen/QR>

#include "moments.h"

namespace nustream::inference {
namespace {

using Decomposition = Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd>;

/// Solves G θ = v for G = XᵀX. G is scaled to a unit diagonal, so that the rank does not depend on units.
LeastSquares solve(const Eigen::MatrixXd& gram, const Eigen::VectorXd& moments) {
  constexpr double negligible = 1e-10;  // relative to the largest pivot: collinear to five digits of a correlation
  Eigen::VectorXd scale = gram.diagonal().cwiseSqrt();
  // A column of zeros keeps the scale 0, and its coefficient is 0.
  for (double& entry : scale) entry = entry > 0 ? 1 / entry : 0;
  const Eigen::MatrixXd scaled = scale.asDiagonal() * gram * scale.asDiagonal();
  Decomposition decomposition;
  decomposition.setThreshold(negligible);
  decomposition.compute(scaled);
  const Eigen::VectorXd theta = scale.asDiagonal() * decomposition.solve(scale.asDiagonal() * moments);
  return {{theta.data(), theta.data() + theta.size()}, static_cast<std::size_t>(decomposition.rank())};
}

}  // namespace

LeastSquares ordinary_least_squares(const TableView& table) {
  const Moments moments = moments_of(table);
  return solve(moments.gram, moments.targets);
}

LeastSquares two_stage_least_squares(const TableView& table, std::size_t instruments, std::size_t controls) {
  const Moments moments = moments_of(table);
  const auto q = static_cast<Eigen::Index>(instruments);
  const auto w = static_cast<Eigen::Index>(controls);
  const Eigen::Index e = moments.gram.cols() - q;
  const Eigen::MatrixXd zz = moments.gram.topLeftCorner(q, q);
  Eigen::MatrixXd zx(q, w + e);
  // The regressors of the second stage are the controls, which are among z, and the endogenous ones.
  zx << zz.leftCols(w), moments.gram.topRightCorner(q, e);
  // X̂ᵀX̂ = Xᵀ Z (ZᵀZ)⁻¹ ZᵀX, and the same for y, so the fitted rows are never formed.
  const Eigen::MatrixXd first = Decomposition(zz).solve(zx);
  return solve(first.transpose() * zx, first.transpose() * moments.targets.head(q));
}

}  // namespace nustream::inference
