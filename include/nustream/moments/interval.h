// How far the released estimate may be from what it estimates: privacy noise and sampling.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/inference/sandwich.h"
#include "nustream/moments/estimate.h"

namespace nustream::moments {

/// What the privacy noise adds to θ̂ of one response, to first order: H⁻¹ Q H⁻¹, row-major d × d, with the noise of
/// Σ w_s(g_s + H_s(θ_s − θ̂)):
///
///     Q = Σ_ij w_i w_j M_ij (½ τ_H² R_i² R_j² ((δ_iᵀδ_j) I + δ_j δ_iᵀ) + τ_g² ρ_i ρ_j I),   δ_s = θ_s − θ̂,
///
/// M the stages' covariance, R_s = R_x, ρ_s the product of R_x and the response's radius, τ the blocks' σΔ. For
/// symmetric noise N of unit variance on its diagonal and ½ beside it, Cov(Nu, Nv) = ½((uᵀv) I + v uᵀ). Nothing where
/// an eigenvalue of H is floored.
[[nodiscard]] std::optional<std::vector<double>> privacy_covariance(const RunningSums& sums, const Frame& frame,
                                                                    std::span<const double> covariance,
                                                                    const Estimate& estimate, std::size_t response);

/// Variance of aᵀθ̂ for every row a of `directions` (row-major, · × d; a public map, such as that to original units),
/// θ̂ the coefficients of the target: privacy and sampling together, for `steps` steps. The sampling part comes from
/// the spread of recentred stages (all but the first): residuals about the start are no estimate of it. It has the
/// degrees of freedom that the noise of spread and H leaves.
///
/// They cover the parameter of the weighted, clipped problem: rows scaled to R_x, residuals clipped to R_r about the
/// centres of their day. Nothing where an eigenvalue is floored, where no spread is kept or no stage was recentred,
/// where a variance comes out negative, or has fewer than 8 degrees of freedom.
[[nodiscard]] std::optional<std::vector<inference::EstimatedVariance>> target_variances(
    const RunningSums& sums, const Frame& frame, std::span<const double> covariance, const Estimate& estimate,
    StepCount steps, std::span<const double> directions);
/// Of every coefficient: the directions are the unit vectors.
[[nodiscard]] std::optional<std::vector<inference::EstimatedVariance>> target_variances(
    const RunningSums& sums, const Frame& frame, std::span<const double> covariance, const Estimate& estimate,
    StepCount steps);

}  // namespace nustream::moments
