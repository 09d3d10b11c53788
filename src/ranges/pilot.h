// The pilot of a fit: noisy second moments and cross moments over a part of its own.
#pragma once

#include <Eigen/Core>

#include <optional>

#include "ranges/coordinates.h"
#include "ranges/working_rows.h"

namespace nustream::ranges {

/// How much wider the pilot's bounds are than the scales from the middle of the distributions.
inline constexpr double pilot_widening = 2;
inline constexpr double pilot_slack = 1.5;

/// What the pilot found. All of it is post-processing of one release.
struct Pilot {
  Eigen::VectorXd theta;   ///< least squares of the placed target, in placed coordinates
  Eigen::MatrixXd second;  ///< floored second moments of the placed inputs, per record
  Whitening whitening;
  double largest;  ///< eigenvalues of the noisy second moments, floored, per record of the part; for users, per
                   ///< record by the noisy sum of the records' shares
  double smallest;
  double weight;  ///< noisy mean weight of the part's rows; 1 where rows have none
  /// The covariance of theta by the noise, to first order; empty where noise hides a direction.
  std::optional<Eigen::MatrixXd> by_noise;
  double mean_stddev;  ///< of the noise in the placed target's mean by theta, to first order
};

/// Makes one release at settings.rho over the rows of `part`, which are not whitened yet.
[[nodiscard]] Pilot pilot(WorkingRows& rows, const Part& part, const FitSettings& settings, const RowBounds& bounds,
                          const DrawNoise& draw);

/// The design for moments about `centre`. The caller adds shares and stages.
[[nodiscard]] PartDesign part_design(const FitSettings& settings, bool of_users, const RowBounds& bounds,
                                     const Eigen::VectorXd& centre);

/// The noise covariance of a single step, which is independent of any other.
inline constexpr double alone[] = {1.0};

/// What the answer's release shows of residuals, in working units.
struct ClippedResiduals {
  Eigen::MatrixXd meat;  ///< Σ r²xxᵀ of the clipped residuals, noisy
  double stddev;         ///< standard deviation of the noise of one entry
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
