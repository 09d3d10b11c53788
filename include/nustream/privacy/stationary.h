// Predicts how far the privacy noise keeps the iterate from the optimum once the start is forgotten. A plan prints
// these formulas. Notation: docs/notation.md.
#pragma once

#include <span>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"

namespace nustream::privacy {

/// Where the slope of the gradient comes from.
enum class Curvature {
  fixed,             ///< the slope is the same for every record, as in mean estimation
  gaussian_features  ///< the slope is x xᵀ with Gaussian x (linear regression): it multiplies into the error, which
                     ///< the integral of CDP+ appendix B leaves out
};

/// A problem near its optimum: F(θ) = ½E(y − xᵀθ)², or a loss that looks like it there. All settings are public;
/// nothing here is read from data.
struct LocalProblem {
  std::vector<double> eigenvalues;  ///< λ_j > 0 of H, the second moment of the features; one for each coordinate
  StepSize step_size;               ///< η; ηλ_j < 2 (fixed), < 1 (gaussian_features)
  Curvature curvature;
};

/// The stationary variance of the iterate along each eigenvector j, for seed noise of variance 1: P_j = η² (1/2π)
/// ∫ |B(ω)|² / |1 − ηλ_j − e^{iω}|² dω. The noise that x xᵀ multiplies in is left out.
///
/// The relative error is about 1e-14. For windows it is the variance once the last coefficient has had its effect;
/// for strategies and dense encoders it is the variance at the horizon.
///
/// Throws Unsupported for trees and for noise that is begun anew, neither of which is Toeplitz, and
/// InvalidParameter where some ηλ_j is not in (0, 2).
///
/// Source: CDP+ appendices B (before eq. 18) and C.
[[nodiscard]] std::vector<double> stationary_variances(const noise::Correlation& correlation, StepSize step_size,
                                                       std::span<const double> eigenvalues);

/// E F(θ) − F(θ*) in the limit, as far as the privacy noise alone causes it; the ½ of F is included. `noise` is σΔ
/// of the seed noise in gradient units, where Δ includes the factor of its adjacency.
///
/// For fixed curvature this is Σ_j (λ_j/2) P_j (σΔ)². For gaussian_features it is the exact value ½ (σΔ)² [Σ_j (2
/// − ηλ_j) λ_j P_j / (2(1 − ηλ_j))] / [1 − Σ_j ηλ_j / (2(1 − ηλ_j))], which is infinite where the step size is so
/// large that the second moment diverges. The formula leaves clipping out.
///
/// Throws as stationary_variances() does, and InvalidParameter where gaussian_features meet some ηλ_j ≥ 1.
[[nodiscard]] double stationary_excess(const noise::Correlation& correlation, const LocalProblem& problem,
                                       NoiseStddev noise);

}  // namespace nustream::privacy
