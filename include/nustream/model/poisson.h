// The loss of Poisson regression with the log link.
#pragma once

#include <cmath>

namespace nustream::model {

/// f = e^p − y p with p = θᵀx. The term ln(y!) is left out, as it does not depend on θ.
struct Poisson {
  static constexpr bool uses_prediction = true;
  static constexpr bool uses_target = true;

  [[nodiscard]] double value(double prediction, double target) const noexcept {
    return std::exp(prediction) - target * prediction;
  }
  /// e^p − y. It is infinite for p > 709, and the clip then keeps the direction x (descent/clip.h).
  [[nodiscard, gnu::always_inline]] double slope(double prediction, double target) const noexcept {
    return std::exp(prediction) - target;
  }
};

}  // namespace nustream::model
