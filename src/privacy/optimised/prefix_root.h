// Finds the best dense encoder for prefix sums through the dual problem; private to the privacy room.
#pragma once

#include <cstddef>
#include <vector>

#include "nustream/privacy/optimised.h"

namespace nustream::privacy::optimised {

/// X = CᵀC for given row weights u and dual weights v: the X that minimises tr(AᵀUA X⁻¹) + tr(V X), which is
/// V^{−½} (V^½ AᵀUA V^½)^½ V^{−½}.
///
/// (AᵀUA)⁻¹ = A⁻¹U⁻¹A⁻ᵀ is tridiagonal, so with N(s) = A⁻¹U⁻¹A⁻ᵀ + s²V
///
///     X = (2/π) ∫₀^∞ N(s)⁻¹ ds ≈ (2h/π) Σ_n s_n N(s_n)⁻¹,   s_n = s_0 e^{nh}:
///
/// The sum is the trapezoidal rule in ln s with error e^{−π²/h}, and each N(s)⁻¹ costs O(T). The recursions for
/// the factors of N compute by how much the pivots exceed 1/u, so nothing cancels and every entry of X is right to
/// rounding.
class PrefixRoot {
 public:
  explicit PrefixRoot(std::size_t steps) : steps_(steps) {}

  /// The diagonal of X for weights u, v > 0. O(100 T).
  [[nodiscard]] std::vector<double> diagonal(const std::vector<double>& u, const std::vector<double>& v);
  /// X row by row, with the entries (t, 0) … (t, t) of each. O(50 T²).
  [[nodiscard]] std::vector<double> lower_triangle(const std::vector<double>& u, const std::vector<double>& v);

 private:
  void choose_nodes(const std::vector<double>& u, const std::vector<double>& v);
  void factor(const std::vector<double>& u, const std::vector<double>& v);

  std::size_t steps_;
  std::vector<double> shifts_;   // s_n²; the first is 0 and stands for all nodes below
  std::vector<double> weights_;  // weights of N(s_n)⁻¹
  double rest_ = 0;              // weight of V⁻¹, which stands for all nodes above
  std::vector<double> forward_;  // [t·nodes + n]: by how much pivots from above exceed 1/u; backward_: pivots from
                                 // below
  std::vector<double> backward_;
};

/// The row weights u, the dual weights v and the dual value at the fixed point.
struct DualWeights {
  std::vector<double> u;
  std::vector<double> v;
  double value;  ///< a lower bound of the loss
};

/// Iterates v ← v · diag X until the diagonal of X is even to 1e-8, from the weights of half as many steps. For
/// the largest error u is the reverse of v, because A read backwards is its own transpose. The value is a bound of
/// the loss at any v. Its distance to the least loss is of second order in the unevenness that is left.
///
/// Source: Denisov et al. 2022.
[[nodiscard]] DualWeights dual_weights(const PrefixSums& problem);

}  // namespace nustream::privacy::optimised
