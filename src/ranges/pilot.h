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
  double largest;  ///< eigenvalues of the noisy second moments, floored, per record of the part
  double smallest;
  double weight;  ///< noisy mean weight of the part's rows; 1 where rows have none
  /// The covariance of theta by the noise, to first order; empty where noise hides a direction.
  std::optional<Eigen::MatrixXd> by_noise;
};

/// Makes one release at settings.rho over the rows of `part`, which are not whitened yet.
[[nodiscard]] Pilot pilot(WorkingRows& rows, const Part& part, const FitSettings& settings, const RowBounds& bounds,
                          const DrawNoise& draw);

/// The design for moments of `dimension` inputs about `centre`. The caller adds shares and stages.
[[nodiscard]] PartDesign part_design(const FitSettings& settings, std::size_t dimension, const RowBounds& bounds,
                                     const Eigen::VectorXd& centre);

/// The noise covariance of a single step, which is independent of any other.
inline constexpr double alone[] = {1.0};

}  // namespace nustream::ranges
