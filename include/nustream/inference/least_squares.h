// Least squares without privacy. Private estimates are compared with it, and it reveals a degenerate table.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace nustream::inference {

/// The rows of a table: x is row-major rows × d, y has one number a row. A row whose target is NaN does not count.
struct TableView {
  std::size_t dimension;
  std::span<const double> x;
  std::span<const double> y;
  [[nodiscard]] std::size_t rows() const noexcept { return y.size(); }
};

/// A solution of the normal equations, and how well it is determined.
struct LeastSquares {
  std::vector<double> theta;  ///< the shortest one where there are many
  std::size_t rank;           ///< d where the solution is the only one
};

/// argmin Σ(xᵀθ − y)², by Householder QR with column pivoting of the scaled normal equations.
[[nodiscard]] LeastSquares ordinary_least_squares(const TableView& table);

/// Two-stage least squares. Rows are [z, x] as descent::TwoStageShape says, where the first `controls` entries of z
/// are controls. θ is [controls, endogenous].
[[nodiscard]] LeastSquares two_stage_least_squares(const TableView& table, std::size_t instruments,
                                                   std::size_t controls);

}  // namespace nustream::inference
