// Symmetric matrices kept as isometric triangles: descent/second_moments.h.
#pragma once

#include <Eigen/Core>

#include <span>
#include <vector>

namespace nustream::moments {

/// H v.
[[nodiscard]] std::vector<double> times_triangle(std::span<const double> triangle, std::span<const double> v);
/// The full matrix.
[[nodiscard]] Eigen::MatrixXd full_matrix(std::span<const double> triangle, std::size_t dimension);
/// Its inverse, of the upper triangle.
[[nodiscard]] std::vector<double> isometric(const Eigen::MatrixXd& matrix);
/// λ_min of the full matrix.
[[nodiscard]] double smallest_eigenvalue(std::span<const double> triangle, std::size_t dimension);

}  // namespace nustream::moments
