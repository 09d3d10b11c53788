// The most powerful test of two worlds whose sums of gradients differ by a known shift under known Gaussian noise.
#pragma once

#include <Eigen/Core>

#include "audit/canary.h"
#include "nustream/noise/correlation.h"

namespace nustream::audit {

/// The filter sees the sums of gradients of T steps, each with noise. The noise has covariance Σ over the steps, the
/// same for every coordinate and independent between them. Σ is computed from B itself, so that the filter does not
/// depend on the sensitivity that it is to check.
class MatchedFilter {
 public:
  /// `displacement` is the length of the shift, in gradient units, that is claimed at each of the shape's steps `at`.
  MatchedFilter(const noise::Correlation& correlation, double stddev, double displacement, const GameShape& shape);

  /// μ = √(DᵀΣ⁻¹D), where the shift D is as long as claimed at each of its steps and keeps one direction.
  [[nodiscard]] double mu() const noexcept { return mu_; }

  /// The logarithm of the likelihood ratio. Where the shift is as long as claimed and keeps its direction, its
  /// distribution is N(-mu²/2, mu²) in the world without the record and N(mu²/2, mu²) in the other. Where the shift
  /// is shorter, the two are closer together.
  ///
  /// `seen` (T × d) is what was seen, less what the world without the record adds. `shift` (at.size() × d) is what
  /// the other world adds. A step's shift may depend on what was seen before it: Σ's factor is lower triangular, and
  /// so the ratio is the product of the steps' ratios.
  [[nodiscard]] double log_ratio(const Eigen::MatrixXd& seen, const Eigen::MatrixXd& shift) const;
  /// DᵀΣ⁻¹D of a shift D; it is mu()² where the shift is as claimed.
  [[nodiscard]] double information(const Eigen::MatrixXd& shift) const;

 private:
  Eigen::MatrixXd rows_;     // rows of Σ⁻¹ for the steps `at`
  Eigen::MatrixXd at_rows_;  // the columns `at` of rows_
  double mu_ = 0;
};

}  // namespace nustream::audit
