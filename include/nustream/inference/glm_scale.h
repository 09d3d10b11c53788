// Goes from the least-squares direction to a generalised linear model by the scale c of Brillinger's lemma. Source:
// NLDP Algorithm 1, lines 7 and 8; Erdogdu, Bayati and Dicker 2019.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace nustream::inference {

/// The generalised linear models, each by its cumulant function Φ.
enum class GlmFamily {
  linear,    ///< Φ(s) = s²/2
  logistic,  ///< Φ(s) = ln(1 + e^s)
  poisson,   ///< Φ(s) = e^s
};
/// The name of a family: "linear", "logistic" or "poisson".
[[nodiscard]] std::string_view name(GlmFamily family) noexcept;

/// Φ''(s): 1, e^s/(1 + e^s)² or e^s. It overflows only where e^s itself does.
[[nodiscard]] double cumulant_second_derivative(GlmFamily family, double s) noexcept;
/// Φ'''(s), the derivative of Φ''(s).
[[nodiscard]] double cumulant_third_derivative(GlmFamily family, double s) noexcept;

/// The solution of f(c) = 1, f(c) = (c/m) Σ_j Φ''(c ỹ_j).
struct GlmScale {
  bool exists;       ///< false: f is below 1 at every c that was tried, as for large ỹ under logistic
  double c;          ///< the root nearest to 1/Φ''(0); where no root was found, the c with the largest f
  double reached;    ///< f(c)
  int newton_steps;  ///< steps taken inside the bracket, bisections included
};

/// Finds c over the predictions ỹ_j = x_jᵀŵ of public rows, each counted `weights[j]` times (empty: once).
///
/// Under logistic f(1/Φ''(0)) ≤ 1, so its root is sought from there upward, in steps of a tenth until f reaches 1,
/// and then by Newton's method inside the bracket. f falls to 0 for large c, and may pass 1 never or several times.
/// The first root is taken, because it becomes c = 1/Φ''(0) as the predictions vanish. Under Poisson f(1) may be
/// above 1; the search then goes downward. For linear c = 1, whatever the predictions are.
///
/// Throws InvalidParameter where there are no predictions or one is not finite. Throws it also for weights that are
/// not one number ≥ 0 for each prediction with a sum > 0.
[[nodiscard]] GlmScale glm_scale(GlmFamily family, std::span<const double> predictions,
                                 std::span<const double> weights = {});

}  // namespace nustream::inference
