// What a bound on residuals leaves of the pilot's error.
#pragma once

#include <Eigen/Core>

namespace nustream::ranges {

/// What the answer's release tells of residuals, in working units.
struct ClippedResiduals {
  Eigen::MatrixXd meat;  ///< Σ r²xxᵀ of the clipped residuals, noisy
  double stddev;         ///< of the noise of one entry
  double middle;         ///< the deviation of most residuals
  double bound;          ///< R
};

/// The covariance of what is left of the pilot's error in the answer. `second` is H = Σ xxᵀ, and `of_pilot` is the
/// covariance of the pilot's error δ.
///
/// The answer is θ_c + H⁻¹ Σ x·clip(r), with θ_c the pilot's. A row whose residual lies beyond the bound adds the
/// same for every θ_c near by, so of δ there remains H⁻¹(Σ_beyond xxᵀ)δ. A row beyond the bound adds R² to Σ r²xxᵀ.
/// So along an eigenvector of H^(−½) Σ r²xxᵀ H^(−½) with the value v the share of such rows is at most (v − m²)/R²,
/// if the others' residuals have the deviation m of most rows; 1.3 m² and the noise of v are taken off it. The share
/// is at least that of normal residuals with this v. With a wide bound it is nearly 0; it is not where few records
/// make the bound narrow, and residuals of some rows are wider than those of most.
[[nodiscard]] Eigen::MatrixXd left_of_pilot(const Eigen::MatrixXd& second, const ClippedResiduals& residuals,
                                            const Eigen::MatrixXd& of_pilot);

}  // namespace nustream::ranges
