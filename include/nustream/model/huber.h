// The Huber loss: least squares for small residuals, least absolute deviations for large ones (Huber 1964).
#pragma once

namespace nustream::model {

/// f = ½r² for |r| ≤ h and h|r| − ½h² beyond that, with r = θᵀx − y and h = threshold > 0.
struct Huber {
  static constexpr bool uses_prediction = true;
  static constexpr bool uses_target = true;
  double threshold;

  [[nodiscard]] double value(double prediction, double target) const noexcept {
    const double distance = __builtin_fabs(prediction - target);
    return distance <= threshold ? 0.5 * distance * distance : threshold * (distance - 0.5 * threshold);
  }
  [[nodiscard, gnu::always_inline]] double slope(double prediction, double target) const noexcept {
    const double residual = prediction - target;
    if (residual > threshold) return threshold;
    return residual < -threshold ? -threshold : residual;
  }
};

}  // namespace nustream::model
