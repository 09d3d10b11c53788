// Handles symmetric matrices that are kept as isometric triangles (descent/second_moments.h).
#pragma once

#include <Eigen/Core>

#include <span>
#include <vector>

namespace nustream::moments {

/// The product H v.
[[nodiscard]] std::vector<double> times_triangle(std::span<const double> triangle, std::span<const double> v);
/// The full symmetric matrix of a triangle.
[[nodiscard]] Eigen::MatrixXd full_matrix(std::span<const double> triangle, std::size_t dimension);
/// The inverse of full_matrix(): it reads the upper triangle of the matrix.
[[nodiscard]] std::vector<double> isometric(const Eigen::MatrixXd& matrix);
/// λ_min of the full matrix of a triangle.
[[nodiscard]] double smallest_eigenvalue(std::span<const double> triangle, std::size_t dimension);

}  // namespace nustream::moments
