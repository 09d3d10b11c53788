// The bound of CDP+ Theorem E.1 as a function of its multipliers λ; private to the privacy room.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "../transfer.h"
#include "nustream/privacy/optimised_descent.h"

namespace nustream::privacy::optimised {

/// Quadrature nodes whose tan(ω/2) grow in geometric progression: this is the trapezoidal rule in the logarithm of
/// the tangent. It suits integrands whose narrowest feature is `width` (as sharp as ω = width) and whose finest
/// ripples have some tens of periods.
[[nodiscard]] std::vector<Frequency> frequencies(double width);

/// ψ for multipliers λ, with η = 1 (μ and L stand for ημ and ηL). In the terms of Theorem E.1, with Λ = Σ λ_j Λ_j,
/// r = Re Λ, off = μΛ + LΛ* and h = 1 − e^{iω},
///
///     ψ = −2r + |m|²/l,   m = −off + 2r h*,   l = −1 + 2μL r + 2r|h|² − 2 Re(off h) > 0,
///
/// This is the 2 × 2 condition (90) solved for ψ. It is convex in λ, since r, m and l + 1 are linear in λ.
class Multipliers {
 public:
  /// Requires μ < L. For μ = L the best multipliers are infinite.
  Multipliers(const StronglyConvex& problem, std::vector<Frequency> frequencies);

  /// The λ that minimises ∫ |B|² ψ, where |B|² is given at each frequency.
  [[nodiscard]] std::vector<double> best_for(std::span<const double> squared_transfer) const;
  /// The λ that minimises ∫ √ψ: the bound that is left at the best B for those multipliers.
  [[nodiscard]] std::vector<double> best() const;
  /// ψ at every frequency.
  [[nodiscard]] std::vector<double> psi(std::span<const double> multipliers) const;

  [[nodiscard]] const std::vector<Frequency>& frequencies() const noexcept { return frequencies_; }

 private:
  /// The terms that are linear in λ at one frequency; by_ holds their coefficients for λ_0, λ_1, …
  struct Terms {
    double r, m_real, m_imaginary, l;
  };
  [[nodiscard]] Terms terms(std::size_t frequency, std::span<const double> multipliers) const;
  template <class Outer>
  [[nodiscard]] std::vector<double> minimised(Outer outer) const;

  std::size_t count_;  // number of multipliers
  double smallest_;    // 1/(μL): the scale of the multipliers
  std::vector<Frequency> frequencies_;
  std::vector<Terms> by_;  // [frequency·count + j]
};

}  // namespace nustream::privacy::optimised
