// The most powerful test of two worlds whose sums of gradients differ by a known shift under known Gaussian noise.
#pragma once

#include <Eigen/Core>

#include "audit/shape.h"
#include "nustream/noise/correlation.h"

namespace nustream::audit {

/// Sums of gradients of T steps are seen, each with noise of covariance Σ over the steps, the same for every
/// coordinate and independent between them. Σ is computed from B itself: no sensitivity is asked.
class MatchedFilter {
 public:
  /// `displacement`: length of the shift that is claimed at each of the shape's steps `at`.
  MatchedFilter(const noise::Correlation& correlation, double stddev, double displacement, const GameShape& shape);

  /// √(DᵀΣ⁻¹D) where the shift D is as long as claimed at each of its steps, in one direction.
  [[nodiscard]] double mu() const noexcept { return mu_; }

  /// The logarithm of the likelihood ratio: N(-mu²/2, mu²) in the world without and N(mu²/2, mu²) in the other, where
  /// the shift is as long as claimed and keeps its direction; closer together where it is shorter.
  ///
  /// `seen` (T × d): what was seen, what the world without adds to it taken away. `shift` (at.size() × d): what the
  /// other world adds, which may depend on what was seen before that step: Σ's factor is lower triangular, so that
  /// the ratio is the product of those of the steps.
  [[nodiscard]] double log_ratio(const Eigen::MatrixXd& seen, const Eigen::MatrixXd& shift) const;
  /// DᵀΣ⁻¹D of a shift D: mu()² where that is as claimed.
  [[nodiscard]] double information(const Eigen::MatrixXd& shift) const;

 private:
  Eigen::MatrixXd rows_;     // of Σ⁻¹, those of the steps `at`
  Eigen::MatrixXd at_rows_;  // and of these the columns `at`
  double mu_ = 0;
};

}  // namespace nustream::audit
