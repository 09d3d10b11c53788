// The loss of least squares.
#pragma once

namespace nustream::model {

/// f = ½(θᵀx − y)².
struct Linear {
  static constexpr bool uses_prediction = true;
  static constexpr bool uses_target = true;

  [[nodiscard]] double value(double prediction, double target) const noexcept {
    const double residual = prediction - target;
    return 0.5 * residual * residual;
  }
  [[nodiscard, gnu::always_inline]] double slope(double prediction, double target) const noexcept {
    return prediction - target;
  }
};

}  // namespace nustream::model
