// The loss of logistic regression on labels 0 and 1.
#pragma once

#include <cmath>

namespace nustream::model {

/// f = ln(1 + e^p) − y p with p = θᵀx.
struct Logistic {
  static constexpr bool uses_prediction = true;
  static constexpr bool uses_target = true;

  [[nodiscard]] double value(double prediction, double target) const noexcept {
    // ln(1 + e^p) = max(p, 0) + ln(1 + e^−|p|), which cannot overflow.
    const double positive_part = prediction > 0 ? prediction : 0;
    return positive_part + std::log1p(std::exp(-__builtin_fabs(prediction))) - target * prediction;
  }
  /// 1/(1 + e^−p) − y. It is computed from e^−|p| ≤ 1, which cannot overflow.
  [[nodiscard, gnu::always_inline]] double slope(double prediction, double target) const noexcept {
    const double tail = std::exp(-__builtin_fabs(prediction));
    return (prediction >= 0 ? 1.0 : tail) / (1.0 + tail) - target;
  }
};

}  // namespace nustream::model
