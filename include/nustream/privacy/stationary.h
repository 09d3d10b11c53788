// How far the privacy noise keeps the iterate from the optimum, once the start is forgotten: the formulas that a
// plan prints. Notation: docs/notation.md.
#pragma once

#include <span>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"

namespace nustream::privacy {

/// Where the gradient's slope comes from.
enum class Curvature {
  fixed,             ///< the same for every record: mean estimation
  gaussian_features  ///< x xᵀ with Gaussian x: linear regression; multiplies into the error, unlike in CDP+ eq. (8)
};

/// F(θ) = ½E(y − xᵀθ)² and its kin near the optimum. All settings are public: nothing here is read from data.
struct LocalProblem {
  std::vector<double> eigenvalues;  ///< λ_j > 0 of H, the second moment of the features; one for each coordinate
  StepSize step_size;               ///< η; ηλ_j < 2 (fixed), < 1 (gaussian_features)
  Curvature curvature;
};

/// P_j = η² (1/2π) ∫ |B(ω)|² / |1 − ηλ_j − e^{iω}|² dω for each eigenvalue: the stationary variance of the iterate
/// along eigenvector j for seed noise of variance 1, without the noise that x xᵀ multiplies in.
///
/// Relative error about 1e-14. For windows, strategies and dense encoders it is the variance after the last
/// coefficient's effect, or at the horizon. Throws Unsupported for trees (not Toeplitz), InvalidParameter where some
/// ηλ_j is not in (0, 2).
///
/// Source: CDP+ eq. (8) and appendix C.
[[nodiscard]] std::vector<double> stationary_variances(const noise::Correlation& correlation, StepSize step_size,
                                                       std::span<const double> eigenvalues);

/// E F(θ) − F(θ*) in the limit, from the privacy noise alone; the ½ of F is in it. `noise` is σΔ of the seed noise in
/// gradient units, Δ with the factor of its adjacency.
///
/// fixed: Σ_j (λ_j/2) P_j (σΔ)². gaussian_features: the exact value,
/// ½ (σΔ)² [Σ_j (2 − ηλ_j) λ_j P_j / (2(1 − ηλ_j))] / [1 − Σ_j ηλ_j / (2(1 − ηλ_j))]; infinite where the step size
/// is so large that the second moment diverges. Clipping is not in the formula.
[[nodiscard]] double stationary_excess(const noise::Correlation& correlation, const LocalProblem& problem,
                                       NoiseStddev noise);

}  // namespace nustream::privacy
