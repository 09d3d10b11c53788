// Least squares without privacy: what private estimates are compared with, and what tells of a degenerate table.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace nustream::inference {

/// Rows of a table: x row-major rows × d, y rows. A row whose target is NaN is left out of what is solved.
struct TableView {
  std::size_t dimension;
  std::span<const double> x;
  std::span<const double> y;
  [[nodiscard]] std::size_t rows() const noexcept { return y.size(); }
};

/// A solution of the normal equations and how well it is determined.
struct LeastSquares {
  std::vector<double> theta;  ///< of least length where there are many
  std::size_t rank;           ///< d where the solution is the only one
};

/// argmin Σ(xᵀθ − y)², by Householder QR with column pivoting of the scaled normal equations.
[[nodiscard]] LeastSquares ordinary_least_squares(const TableView& table);

/// Two-stage least squares: rows are [z, x] as descent::TwoStageShape says, `controls` the first entries of z. θ is
/// [controls, endogenous].
[[nodiscard]] LeastSquares two_stage_least_squares(const TableView& table, std::size_t instruments,
                                                   std::size_t controls);

}  // namespace nustream::inference
