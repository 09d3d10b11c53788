// Smoothed quantile regression, with the check loss convolved with a uniform kernel.
#pragma once

namespace nustream::model {

/// f = ½∫ ρ_τ(u) du/h over [r − h, r + h], with r = θᵀx − y and ρ_τ(r) = max((1 − τ)r, −τr). It is smooth and convex,
/// and equals the check loss where |r| ≥ h. h = bandwidth > 0 is in units of y, and τ = level lies in (0, 1).
///
/// Source: Fernandes, Guerre and Horta 2021, section 2; He, Pan, Tan and Zhou 2023, eq. (2.4), uniform kernel.
struct Quantile {
  static constexpr bool uses_prediction = true;
  static constexpr bool uses_target = true;
  double level;
  double bandwidth;

  [[nodiscard]] double value(double prediction, double target) const noexcept {
    const double residual = prediction - target;
    const double distance = __builtin_fabs(residual);
    const double tilt = (0.5 - level) * residual;
    if (distance >= bandwidth) return 0.5 * distance + tilt;
    return 0.25 * (residual * residual / bandwidth + bandwidth) + tilt;
  }
  /// The share of the kernel below r, minus τ.
  [[nodiscard, gnu::always_inline]] double slope(double prediction, double target) const noexcept {
    const double residual = prediction - target;
    if (residual >= bandwidth) return 1.0 - level;
    if (residual <= -bandwidth) return -level;
    return 0.5 * (residual / bandwidth + 1.0) - level;
  }
};

}  // namespace nustream::model
