// Computes how far the released estimate may be from what it estimates, because of privacy noise and of sampling.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/inference/sandwich.h"
#include "nustream/moments/estimate.h"

namespace nustream::moments {

/// What the privacy noise adds to the covariance of θ̂ of one response, to first order: H⁻¹ Q H⁻¹, row-major d × d,
/// with Q from the noise of Σ w_s(g_s + H_s(θ_s − θ̂)):
///
///     Q = Σ_ij w_i w_j M_ij (½ τ_H² R_i² R_j² ((δ_iᵀδ_j) I + δ_j δ_iᵀ) + τ_g² ρ_i ρ_j I),   δ_s = θ_s − θ̂,
///
/// M is the stages' covariance, R_s = R_x, ρ_s the product of R_x and the response's radius, and τ the blocks' σΔ.
/// For symmetric noise N with unit variance on its diagonal and ½ beside it, Cov(Nu, Nv) = ½((uᵀv) I + v uᵀ). Where
/// scales have grown, the noise of stage s stands in its sums as D_s N D_s (share_of_scale()): the terms are then
/// those of D_iδ_i and D_jδ_j, with D_i on their left and D_j on their right. All is in the newest stage's units, as
/// estimate() is. Empty where an eigenvalue of H is floored.
[[nodiscard]] std::optional<std::vector<double>> privacy_covariance(const RunningSums& sums, const Frame& frame,
                                                                    std::span<const double> covariance,
                                                                    const Estimate& estimate, std::size_t response);

/// The variance of aᵀθ̂, privacy and sampling together, after `steps` steps. There is one for every row a of
/// `directions`, which is row-major · × d and a public map, such as that to original units. θ̂ are the coefficients
/// of the target. The sampling part comes from the spread of recentred stages, that is of all stages except the
/// first: residuals about the start are no estimate of it. Each variance has the degrees of freedom that the noise of
/// spread and H leaves it.
///
/// The intervals cover the parameter of the weighted, clipped problem: rows scaled to R_x, residuals clipped to R_r
/// about the centres of their time. Empty where an eigenvalue is floored, where no spread is kept or no stage was
/// recentred, and where a variance comes out negative or has fewer than 8 degrees of freedom.
[[nodiscard]] std::optional<std::vector<inference::EstimatedVariance>> target_variances(
    const RunningSums& sums, const Frame& frame, std::span<const double> covariance, const Estimate& estimate,
    StepCount steps, std::span<const double> directions);
/// The variances of all coefficients: the directions are the unit vectors.
[[nodiscard]] std::optional<std::vector<inference::EstimatedVariance>> target_variances(
    const RunningSums& sums, const Frame& frame, std::span<const double> covariance, const Estimate& estimate,
    StepCount steps);

}  // namespace nustream::moments
