// AdaSSP on a whole table (Wang 2018, Algorithm 2), with noise calibrated in zCDP: three Gaussian releases of ρ/3,
// from which the ridge and the solution follow by post-processing.
#include "nustream/inference/adassp.h"

#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "inference/symmetric.h"
#include "nustream/base/error.h"

namespace nustream::inference {
namespace {

constexpr double failure = 0.05;  // δ': how often the ridge may be too small; privacy does not depend on it

/// XᵀX and Xᵀy.
struct Statistics {
  Eigen::MatrixXd gram;
  Eigen::VectorXd moments;
};

/// The sums over records that are scaled down to the bounds. Scaling is a public map of the record alone.
Statistics bounded_statistics(const TableView& table, const AdaSspBounds& bounds) {
  const auto d = static_cast<Eigen::Index>(table.dimension);
  Statistics sum{Eigen::MatrixXd::Zero(d, d), Eigen::VectorXd::Zero(d)};
  for (std::size_t i = 0; i < table.rows(); ++i) {
    Eigen::VectorXd x = Eigen::Map<const Eigen::VectorXd>(table.x.data() + i * table.dimension, d);
    const double norm = x.norm();
    // Such a record adds zeros, as the null record does.
    if (!std::isfinite(norm) || !std::isfinite(table.y[i])) continue;
    if (norm > bounds.x) x *= bounds.x / norm;
    sum.gram.triangularView<Eigen::Upper>() += x * x.transpose();
    sum.moments += std::clamp(table.y[i], -bounds.y, bounds.y) * x;
  }
  sum.gram = sum.gram.selfadjointView<Eigen::Upper>();
  return sum;
}

/// The standard deviation of a Gaussian release, Δ/√(2ρ).
double stddev_for(double displacement, double rho) {
  return displacement / std::sqrt(2 * rho);
}

}  // namespace

double adaptive_ridge(std::size_t dimension, double stddev, NoisyNumber smallest_eigenvalue) {
  const auto d = static_cast<double>(dimension);
  const double below = std::sqrt(2 * std::log(6 / failure)) * smallest_eigenvalue.stddev;
  const double at_least = std::max(0.0, smallest_eigenvalue.value - below);
  return std::max(0.0, std::sqrt(d * std::log(2 * d * d / failure)) * stddev - at_least);
}

std::size_t adassp_normals(std::size_t dimension) noexcept {
  return 1 + dimension * (dimension + 1) / 2 + dimension;
}

std::vector<double> adassp(const TableView& table, const AdaSspBounds& bounds, Rho rho, privacy::Adjacency adjacency,
                           std::span<const double> normals) {
  NUSTREAM_REQUIRE(normals.size() == adassp_normals(table.dimension), "every release has its own noise");
  Statistics sum = bounded_statistics(table, bounds);
  const bool replace = adjacency == privacy::Adjacency::replace_one;
  const double share = rho.value() / 3;
  const double square = bounds.x * bounds.x;
  const double of_eigenvalue = stddev_for(square, share);
  const double of_gram = stddev_for(replace ? std::numbers::sqrt2 * square : square, share);
  const double of_moments = stddev_for((replace ? 2 : 1) * bounds.x * bounds.y, share);

  // The eigenvalue of the exact matrix: this is a release of its own, so it comes before noise is added below.
  const double smallest = symmetric_eigenvalues(sum.gram)(0);
  const double ridge =
      adaptive_ridge(table.dimension, of_gram, {smallest + of_eigenvalue * normals[0], of_eigenvalue});

  const double* normal = normals.data() + 1;
  for (Eigen::Index i = 0; i < sum.gram.rows(); ++i) {
    for (Eigen::Index j = i; j < sum.gram.cols(); ++j) {
      // Each entry of the upper triangle has its own noise, and the lower one mirrors it.
      sum.gram(i, j) += of_gram * *normal++;
      sum.gram(j, i) = sum.gram(i, j);
    }
  }
  for (double& entry : sum.moments) entry += of_moments * *normal++;
  sum.gram.diagonal().array() += ridge;
  const Eigen::VectorXd theta = sum.gram.colPivHouseholderQr().solve(sum.moments);
  return {theta.data(), theta.data() + theta.size()};
}

}  // namespace nustream::inference
