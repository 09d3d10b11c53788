// Covariances of estimated columns, and of combinations of them: what intervals and instruments are made from.
#pragma once

#include <Eigen/Core>

#include <optional>
#include <span>

#include "nustream/moments/estimate.h"

namespace nustream::moments {

/// Of Σ_k a_k θ̂_k, `combination` a of one weight a response: by privacy alone (see privacy_covariance()).
[[nodiscard]] std::optional<Eigen::MatrixXd> privacy_of(const RunningSums& sums, const Frame& frame,
                                                        std::span<const double> covariance, const Estimate& estimate,
                                                        std::span<const double> combination);
/// The same with sampling, by the spread (of a sandwich: of the target alone, whatever the weights). It is quadratic
/// in the weights but for a sandwich.
[[nodiscard]] std::optional<Eigen::MatrixXd> covariance_of(const RunningSums& sums, const Frame& frame,
                                                           std::span<const double> covariance,
                                                           const Estimate& estimate,
                                                           std::span<const double> combination, StepCount steps);

}  // namespace nustream::moments
