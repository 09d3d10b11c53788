// The mean, written as a loss: CDP+ section 2.1.
#pragma once

namespace nustream::model {

/// f = −θᵀx, so the clipped part of the gradient is −x, whatever θ is; the regulariser ½‖θ‖² outside the clip adds θ.
/// If θ − x were clipped instead, the clip would depend on the iterate.
struct Mean {
  static constexpr bool uses_prediction = false;
  static constexpr bool uses_target = false;

  [[nodiscard]] double value(double prediction, double /*target*/) const noexcept { return -prediction; }
  [[nodiscard, gnu::always_inline]] double slope(double /*prediction*/, double /*target*/) const noexcept {
    return -1.0;
  }
};

}  // namespace nustream::model
