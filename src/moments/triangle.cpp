// Symmetric matrices as isometric triangles: row by row from the diagonal on, entries beside the diagonal times √2,
// so that the triangle's Euclidean length is the matrix's Frobenius norm. The order for d = 3 is (0,0), (0,1), (0,2),
// (1,1), (1,2), (2,2).
#include "moments/triangle.h"

#include <numbers>

#include "inference/symmetric.h"
#include "nustream/base/error.h"
#include "nustream/descent/second_moments.h"

namespace nustream::moments {

std::vector<double> times_triangle(std::span<const double> triangle, std::span<const double> v) {
  NUSTREAM_REQUIRE(triangle.size() == descent::triangle_size(v.size()), "a triangle of the vector's dimension");
  std::vector<double> product(v.size());
  const double* entry = triangle.data();
  for (std::size_t i = 0; i < v.size(); ++i) {
    product[i] += *entry++ * v[i];
    for (std::size_t j = i + 1; j < v.size(); ++j) {
      // An entry beside the diagonal stands for two of the matrix, one on each side.
      const double beside = *entry++ / std::numbers::sqrt2;
      product[i] += beside * v[j];
      product[j] += beside * v[i];
    }
  }
  return product;
}

Eigen::MatrixXd full_matrix(std::span<const double> triangle, std::size_t dimension) {
  NUSTREAM_REQUIRE(triangle.size() == descent::triangle_size(dimension), "a triangle of this dimension");
  const std::vector<double> full = descent::symmetric_matrix(triangle, dimension);
  const auto d = static_cast<Eigen::Index>(dimension);
  return Eigen::Map<const Eigen::MatrixXd>(full.data(), d, d);
}

double smallest_eigenvalue(std::span<const double> triangle, std::size_t dimension) {
  // Eigenvalues come in rising order.
  return inference::symmetric_eigenvalues(full_matrix(triangle, dimension))(0);
}

std::vector<double> isometric(const Eigen::MatrixXd& matrix) {
  std::vector<double> triangle;
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    triangle.push_back(matrix(i, i));
    for (Eigen::Index j = i + 1; j < matrix.cols(); ++j) triangle.push_back(std::numbers::sqrt2 * matrix(i, j));
  }
  return triangle;
}

}  // namespace nustream::moments
