// Multinomial logistic regression, with one column of coefficients for each class but the first.
#pragma once

#include <cstddef>
#include <span>

namespace nustream::model {

/// f = ln(1 + Σ_k e^{p_k}) − p_y, with p_k = θ_kᵀx for the classes k = 1 … K − 1 and p_0 = 0. Class 0 is the
/// reference, so that the coefficients are identified and K = 2 is the logistic loss.
struct Multinomial {
  std::size_t classes;  ///< K ≥ 2

  /// Whether y is one of 0, 1, …, K − 1.
  [[nodiscard]] bool is_label(double target) const noexcept;
  /// The loss. `predictions` are p_1 … p_{K−1}, and `target` is a label.
  [[nodiscard]] double value(std::span<const double> predictions, double target) const noexcept;
  /// Writes ∂f/∂p_k = e^{p_k}/(1 + Σ_j e^{p_j}) − [y = k] to `out`, which may be `predictions` itself. If the target
  /// is no label, all entries are NaN: such a record has no gradient.
  void slopes(std::span<const double> predictions, double target, std::span<double> out) const noexcept;
};

}  // namespace nustream::model
