// Poisson regression with the log link.
#pragma once

#include <cmath>

namespace nustream::model {

/// f = e^p − y p, p = θᵀx; ln(y!) does not depend on θ and is left out.
struct Poisson {
  static constexpr bool uses_prediction = true;
  static constexpr bool uses_target = true;

  [[nodiscard]] double value(double prediction, double target) const noexcept {
    return std::exp(prediction) - target * prediction;
  }
  /// Infinite for p > 709: the clip then keeps the direction x (descent/clip.h).
  [[nodiscard, gnu::always_inline]] double slope(double prediction, double target) const noexcept {
    return std::exp(prediction) - target;
  }
};

}  // namespace nustream::model
