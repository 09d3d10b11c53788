// The bound of CDP+ Theorem E.1 as a function of its multipliers; private to the privacy room.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "../transfer.h"
#include "nustream/privacy/optimised_descent.h"

namespace nustream::privacy::optimised {

/// Frequencies whose tan(ω/2) grow in geometric progression: the trapezoidal rule in its logarithm, for integrands
/// whose narrowest feature is `width` (as sharp as ω = width) and whose finest ripples are of some tens of periods.
[[nodiscard]] std::vector<Frequency> frequencies(double width);

/// ψ for multipliers λ, with η = 1 (μ and L stand for ημ and ηL). In E.1's terms, with Λ = Σ λ_j Λ_j, r = Re Λ,
/// off = μΛ + LΛ*, h = 1 − e^{iω}:
///
///     ψ = −2r + |m|²/l,   m = −off + 2r h*,   l = −1 + 2μL r + 2r|h|² − 2 Re(off h) > 0,
///
/// which is the 2 × 2 condition (90) solved for ψ. Convex in λ; r, m and l + 1 are linear.
class Multipliers {
 public:
  /// `problem` with μ < L.
  Multipliers(const StronglyConvex& problem, std::vector<Frequency> frequencies);

  /// λ that minimises ∫ |B|² ψ, |B|² given at each frequency.
  [[nodiscard]] std::vector<double> best_for(std::span<const double> squared_transfer) const;
  /// λ that minimises ∫ √ψ: what is left of the bound at the best B.
  [[nodiscard]] std::vector<double> best() const;
  /// At every frequency.
  [[nodiscard]] std::vector<double> psi(std::span<const double> multipliers) const;

  [[nodiscard]] const std::vector<Frequency>& frequencies() const noexcept { return frequencies_; }

 private:
  /// What is linear in λ at one frequency, and its coefficients by λ_0, λ_1, …
  struct Terms {
    double r, m_real, m_imaginary, l;
  };
  [[nodiscard]] Terms terms(std::size_t frequency, std::span<const double> multipliers) const;
  template <class Outer>
  [[nodiscard]] std::vector<double> minimised(Outer outer) const;

  std::size_t count_;  // of multipliers
  double smallest_;    // 1/(μL): their scale
  std::vector<Frequency> frequencies_;
  std::vector<Terms> by_;  // [frequency·count + j]
};

}  // namespace nustream::privacy::optimised
