// The best dense encoder for prefix sums by its dual; private to the privacy room.
#pragma once

#include <cstddef>
#include <vector>

#include "nustream/privacy/optimised.h"

namespace nustream::privacy::optimised {

/// X = CᵀC of given row weights u and dual weights v: the minimiser of tr(AᵀUA X⁻¹) + tr(V X), which is
/// V^{−½} (V^½ AᵀUA V^½)^½ V^{−½}.
///
/// (AᵀUA)⁻¹ = A⁻¹U⁻¹A⁻ᵀ is tridiagonal, so with N(s) = A⁻¹U⁻¹A⁻ᵀ + s²V
///
///     X = (2/π) ∫₀^∞ N(s)⁻¹ ds ≈ (2h/π) Σ_n s_n N(s_n)⁻¹,   s_n = s_0 e^{nh}:
///
/// the trapezoidal rule in ln s, error e^{−π²/h}; each N(s)⁻¹ costs O(T). The recursions of its factors are
/// written for what they exceed 1/u by, so that nothing cancels: every entry of X is right to rounding.
class PrefixRoot {
 public:
  explicit PrefixRoot(std::size_t steps) : steps_(steps) {}

  /// X's diagonal for weights u, v > 0. O(100 T).
  [[nodiscard]] std::vector<double> diagonal(const std::vector<double>& u, const std::vector<double>& v);
  /// X row by row, entries (t, 0) … (t, t). O(50 T²).
  [[nodiscard]] std::vector<double> lower_triangle(const std::vector<double>& u, const std::vector<double>& v);

 private:
  void choose_nodes(const std::vector<double>& u, const std::vector<double>& v);
  void factor(const std::vector<double>& u, const std::vector<double>& v);

  std::size_t steps_;
  std::vector<double> shifts_;   // s_n²; the first is 0 and stands for all below
  std::vector<double> weights_;  // of N(s_n)⁻¹
  double rest_ = 0;              // weight of V⁻¹, for all nodes above
  std::vector<double> forward_;  // [t·nodes + n]: how much the pivots exceed 1/u
  std::vector<double> backward_;
};

/// Row weights u, dual weights v and the dual value at the fixed point.
struct DualWeights {
  std::vector<double> u;
  std::vector<double> v;
  double value;  ///< a lower bound of the loss
};

/// Iterates v ← v · diag X (for the largest error with u the reverse of v, as A is its own transpose read backwards)
/// until X's diagonal is even to 1e-8, from the weights of half as many steps. The value is a bound at any v, and its
/// distance to the least loss is of second order in that.
///
/// Source: Denisov et al. 2022.
[[nodiscard]] DualWeights dual_weights(const PrefixSums& problem);

}  // namespace nustream::privacy::optimised
