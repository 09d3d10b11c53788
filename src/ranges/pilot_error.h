// What a bound on residuals leaves of the pilot's error.
#pragma once

#include <Eigen/Core>

namespace nustream::ranges {

/// The share of normal residuals beyond a bound, from the mean of r²/R² of the residuals r that were clipped to ±R.
[[nodiscard]] double share_beyond(double mean) noexcept;

/// The covariance of what is left of the pilot's error in the answer. `second` is H = Σ xxᵀ, `meat` is Σ r²xxᵀ of the
/// clipped residuals, and `of_pilot` is the covariance of the pilot's error δ.
///
/// The answer is θ_c + H⁻¹ Σ x·clip(r), with θ_c the pilot's. A row whose residual lies beyond the bound adds the
/// same for every θ_c near by, so of δ there remains H⁻¹(Σ_beyond xxᵀ)δ. For each eigenvector of H^(−½) Σ r²xxᵀ
/// H^(−½)/R² the share of rows beyond the bound is taken to be that of normal residuals with this eigenvalue for
/// their mean. With a wide bound the shares are nearly 0; they are not where few records make the bound narrow, and
/// residuals of some rows are wider than those of most.
[[nodiscard]] Eigen::MatrixXd left_of_pilot(const Eigen::MatrixXd& second, const Eigen::MatrixXd& meat, double bound,
                                            const Eigen::MatrixXd& of_pilot);

}  // namespace nustream::ranges
