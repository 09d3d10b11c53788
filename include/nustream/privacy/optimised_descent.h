// Fits correlations to the error that the noise leaves in a descent without end. Notation: docs/notation.md.
//
// The loss is γ_∞² times an error (1/2π) ∫ |B(ω)|² ψ(ω) dω. For a given ψ it is least where |B|² is proportional
// to 1/√ψ (CDP+ Theorem C.18), and the least value is ((1/2π) ∫ √ψ)². Everything is computed with + − × ÷ and √ in
// a fixed order, so that the coefficients are the same, to the bit, on every machine.
#pragma once

#include <cstddef>
#include <optional>
#include <variant>

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"
#include "nustream/privacy/stationary.h"

namespace nustream::privacy {

/// A problem about which only strong convexity and smoothness are known: any F that is μ-strongly convex and
/// L-smooth. Its error is bounded by CDP+ Theorem 3.1 with σ_sgd = 0. ψ is the least one that the multipliers λ_0, …,
/// λ_taps of Theorem E.1 prove.
///
/// The gradients need not be odd functions, so Λ(ω) = λ_0 − Σ_{t≥1} λ_t e^{−iωt} with λ_t ≥ 0 and Σ_{t≥1} λ_t ≤
/// λ_0 (the paper's + sign is for odd gradients). Multipliers at negative lags are left out, because they do not
/// lower the bound.
struct StronglyConvex {
  StepSize step_size;       ///< η; η(μ + L) < 2
  double strong_convexity;  ///< μ > 0
  double smoothness;        ///< L ≥ μ
  std::size_t taps = 20;    ///< 0 … 64
};

/// What is minimised: either the bound of Theorem 3.1, or stationary_excess() of a problem whose eigenvalues are
/// known. Where the curvature of that problem is gaussian_features, the excess includes the noise that x xᵀ
/// multiplies in.
using DescentProblem = std::variant<StronglyConvex, LocalProblem>;

/// An upper bound of the stationary variance of the iterate in any direction, which holds for every F of the
/// problem, in units of Δ²/(2ρ): γ_∞² η² (1/2π) ∫ |B|² ψ dω. For μ = L it is the variance itself.
///
/// Throws Unsupported for correlations with a horizon.
///
/// Source: CDP+ Theorem E.1, without the factor 2 that separates the noise of the gradients (σ_sgd = 0).
[[nodiscard]] double descent_bound(const noise::Correlation& correlation, const StronglyConvex& problem);

/// The loss at |B|² = 1/√ψ, which the loss of optimised_window() approaches as its terms grow: descent_bound()
/// there for StronglyConvex, or γ_∞² times the excess under noise of variance 1 for LocalProblem. No correlation
/// has a smaller loss for given eigenvalues. For Theorem 3.1, ψ is chosen together with B, and the result is the
/// least loss that the search found.
[[nodiscard]] double least_descent_loss(const DescentProblem& problem);

/// The filter β of `terms` entries that whitens noise of spectrum √ψ, as a noise::Windowed. It has no end unless
/// `horizon` is given. If `terms` is empty, about 12/(ημ) entries are taken, at most 2^14, so that what is cut off
/// changes the loss by less than 1e-6. O(terms²).
///
/// Throws InvalidParameter where the problem is out of range or for terms outside 1 … 2^15.
[[nodiscard]] noise::Correlation optimised_window(const DescentProblem& problem,
                                                  std::optional<std::size_t> terms = {},
                                                  std::optional<StepCount> horizon = {});

/// The rational correlation of least loss with 1 … 12 `poles` and all b_i > 0; it has no end. Throws
/// InvalidParameter where the problem is out of range or for other numbers of poles.
[[nodiscard]] noise::Correlation optimised_rational(const DescentProblem& problem, std::size_t poles);

}  // namespace nustream::privacy
