// Covariances of estimated columns, and of combinations of them. Intervals and instruments are computed from these.
#pragma once

#include <Eigen/Core>

#include <optional>
#include <span>

#include "nustream/moments/estimate.h"

namespace nustream::moments {

/// The covariance of Σ_k a_k θ̂_k by privacy alone (see privacy_covariance()). `combination` holds a, one weight for
/// each response.
[[nodiscard]] std::optional<Eigen::MatrixXd> privacy_of(const RunningSums& sums, const Frame& frame,
                                                        std::span<const double> covariance, const Estimate& estimate,
                                                        std::span<const double> combination);
/// The covariance by privacy and by sampling, where the spread gives the latter. It is quadratic in the weights,
/// except that a sandwich is of the target alone, whatever the weights are.
[[nodiscard]] std::optional<Eigen::MatrixXd> covariance_of(const RunningSums& sums, const Frame& frame,
                                                           std::span<const double> covariance,
                                                           const Estimate& estimate,
                                                           std::span<const double> combination, StepCount steps);

}  // namespace nustream::moments
