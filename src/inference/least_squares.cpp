#include "nustream/inference/least_squares.h"

#include <Eigen/Dense>

#include "nustream/base/error.h"

namespace nustream::inference {
namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const RowMatrix> rows_of(const TableView& table) {
  NUSTREAM_REQUIRE(table.x.size() == table.rows() * table.dimension, "a table has d numbers in each row");
  return {table.x.data(), static_cast<Eigen::Index>(table.rows()), static_cast<Eigen::Index>(table.dimension)};
}

/// G θ = v for G = XᵀX, scaled to a unit diagonal so that the rank does not depend on units.
LeastSquares solve(const Eigen::MatrixXd& gram, const Eigen::VectorXd& moments) {
  constexpr double negligible = 1e-10;  // of a pivot: collinear to five digits of a correlation
  Eigen::VectorXd scale = gram.diagonal().cwiseSqrt();
  for (double& entry : scale) entry = entry > 0 ? 1 / entry : 0;
  const Eigen::MatrixXd scaled = scale.asDiagonal() * gram * scale.asDiagonal();
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition;
  decomposition.setThreshold(negligible);
  decomposition.compute(scaled);
  const Eigen::VectorXd theta = scale.asDiagonal() * decomposition.solve(scale.asDiagonal() * moments);
  return {{theta.data(), theta.data() + theta.size()}, static_cast<std::size_t>(decomposition.rank())};
}

}  // namespace

LeastSquares ordinary_least_squares(const TableView& table) {
  const auto x = rows_of(table);
  const Eigen::Map<const Eigen::VectorXd> y(table.y.data(), static_cast<Eigen::Index>(table.rows()));
  return solve(x.transpose() * x, x.transpose() * y);
}

LeastSquares two_stage_least_squares(const TableView& table, std::size_t instruments, std::size_t controls) {
  const auto all = rows_of(table);
  const Eigen::Map<const Eigen::VectorXd> y(table.y.data(), static_cast<Eigen::Index>(table.rows()));
  const auto q = static_cast<Eigen::Index>(instruments);
  const auto w = static_cast<Eigen::Index>(controls);
  const Eigen::Index e = all.cols() - q;
  const Eigen::MatrixXd zz = all.leftCols(q).transpose() * all.leftCols(q);
  Eigen::MatrixXd zx(q, w + e);
  zx << zz.leftCols(w), all.leftCols(q).transpose() * all.rightCols(e);
  // X̂ᵀX̂ = ZᵀX' (ZᵀZ)⁻¹ ZᵀX, and the same for y.
  const Eigen::MatrixXd first = zz.completeOrthogonalDecomposition().solve(zx);
  return solve(first.transpose() * zx, first.transpose() * (all.leftCols(q).transpose() * y));
}

}  // namespace nustream::inference
