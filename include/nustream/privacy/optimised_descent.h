// Correlations fitted to what the noise leaves in a descent that goes on for ever. Notation: docs/notation.md.
//
// The loss is γ_∞² times an error (1/2π) ∫ |B(ω)|² ψ(ω) dω: for a given ψ it is least where |B|² is proportional to
// 1/√ψ (CDP+ Theorem C.18), and then it is ((1/2π) ∫ √ψ)². Computed with + − × ÷ and √ in a fixed order: the same
// coefficients, to the bit, on every machine.
#pragma once

#include <cstddef>
#include <optional>
#include <variant>

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"
#include "nustream/privacy/stationary.h"

namespace nustream::privacy {

/// Any F that is μ-strongly convex and L-smooth, of which nothing else is known: the bound of CDP+ Theorem 3.1 with
/// σ_sgd = 0. ψ is the least that the multipliers λ_0, …, λ_taps of Theorem E.1 prove.
///
/// The gradients need not be odd functions: Λ(ω) = λ_0 − Σ_{t≥1} λ_t e^{−iωt} with λ_t ≥ 0 and Σ_{t≥1} λ_t ≤ λ_0 (the
/// paper's + sign is for odd ones). Multipliers of the other side do not lower the bound.
struct StronglyConvex {
  StepSize step_size;       ///< η; η(μ + L) < 2
  double strong_convexity;  ///< μ > 0
  double smoothness;        ///< L ≥ μ
  std::size_t taps = 20;    ///< 0 … 64
};

/// What is minimised: Theorem 3.1's bound, or the stationary excess of a problem whose eigenvalues are known
/// (stationary_excess(), with the noise that x xᵀ multiplies in where its curvature says so).
using DescentProblem = std::variant<StronglyConvex, LocalProblem>;

/// An upper bound, for every F of the problem, of the stationary variance of the iterate in any direction, in units
/// of Δ²/(2ρ): γ_∞² η² (1/2π) ∫ |B|² ψ dω. For μ = L it is the variance itself. Of correlations without a horizon;
/// Throws Unsupported for others.
///
/// Source: CDP+ Theorem E.1, without the factor 2 that separates the noise of the gradients (σ_sgd = 0).
[[nodiscard]] double descent_bound(const noise::Correlation& correlation, const StronglyConvex& problem);

/// The loss at |B|² = 1/√ψ, which optimised_window() tends to: descent_bound() there, or γ_∞² times the excess for
/// noise of variance 1. For given eigenvalues no correlation is below it. For Theorem 3.1, where ψ is chosen together
/// with B, it is the least that was found.
[[nodiscard]] double least_descent_loss(const DescentProblem& problem);

/// β of `terms` entries (empty: about 12/(ημ), at most 2^14, where what is cut off changes the loss by less than
/// 1e-6): a noise::Windowed, without end unless `horizon` is given. The filter that whitens noise of spectrum √ψ.
/// O(terms²).
///
/// Throws InvalidParameter where the problem is out of range or for terms outside 1 … 2^15.
[[nodiscard]] noise::Correlation optimised_window(const DescentProblem& problem,
                                                  std::optional<std::size_t> terms = {},
                                                  std::optional<StepCount> horizon = {});

/// The rational correlation of least loss with `poles` poles, 1 … 12, all b_i > 0; without end.
[[nodiscard]] noise::Correlation optimised_rational(const DescentProblem& problem, std::size_t poles);

}  // namespace nustream::privacy
