// The likelihood ratio of two Gaussians with the same covariance Σ and means 0 and D: DᵀΣ⁻¹(seen − D/2). Σ comes from
// the dense B of the generators' own correlation, so that a wrong sensitivity or a wrong noise shows as more than is
// claimed.
#include "audit/matched_filter.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include <Eigen/Dense>

namespace nustream::audit {
namespace {

using Matrix = Eigen::MatrixXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// BBᵀ over T steps, in units of the seed noise's variance. Tree noise has more columns in B than rows.
Matrix noise_covariance(const noise::Correlation& correlation, std::uint64_t steps) {
  const std::vector<double> dense = noise::dense_noise_matrix(correlation, static_cast<std::size_t>(steps));
  const auto rows = static_cast<Eigen::Index>(steps);
  const Eigen::Map<const RowMajor> b(dense.data(), rows, static_cast<Eigen::Index>(dense.size()) / rows);
  return b * b.transpose();
}

/// BBᵀ over all steps of a game, in the same units. Epochs share no noise, so only the blocks on the diagonal are not
/// 0.
Matrix noise_covariance(const noise::Correlation& correlation, const GameShape& shape) {
  const Matrix of_epoch = noise_covariance(correlation, shape.steps_of_epoch());
  const auto all = static_cast<Eigen::Index>(shape.steps);
  Matrix covariance = Matrix::Zero(all, all);
  for (Eigen::Index from = 0; from < all; from += of_epoch.rows()) {
    covariance.block(from, from, of_epoch.rows(), of_epoch.rows()) = of_epoch;
  }
  return covariance;
}

}  // namespace

MatchedFilter::MatchedFilter(const noise::Correlation& correlation, double stddev, double displacement,
                             const GameShape& shape) {
  const auto count = static_cast<Eigen::Index>(shape.at.size());
  const auto steps = static_cast<Eigen::Index>(shape.steps);
  Matrix taking_part = Matrix::Zero(steps, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    taking_part(static_cast<Eigen::Index>(shape.at[static_cast<std::size_t>(i)]), i) = 1;
  }
  const Matrix covariance = stddev * stddev * noise_covariance(correlation, shape);
  // Σ⁻¹ is needed at the canary's steps alone. So one factorisation is solved for those columns before the games.
  rows_ = covariance.ldlt().solve(taking_part).transpose();
  at_rows_ = rows_ * taking_part;
  // D is `displacement` in each of the steps `at`, in one direction: DᵀΣ⁻¹D is the sum over all pairs of these steps.
  mu_ = displacement * std::sqrt(at_rows_.sum());
}

double MatchedFilter::log_ratio(const Matrix& seen, const Matrix& shift) const {
  // Coordinates have independent noise of one covariance, so their parts add up.
  return shift.cwiseProduct(rows_ * seen - at_rows_ * shift / 2).sum();
}

double MatchedFilter::information(const Matrix& shift) const {
  return shift.cwiseProduct(at_rows_ * shift).sum();
}

}  // namespace nustream::audit
