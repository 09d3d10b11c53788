// Outward rounding: a computed bound is moved past everything that floating point may have lost.
#pragma once

#include <limits>

namespace nustream::privacy {

/// u = 2^-53, the largest relative error of one rounding to double.
inline constexpr double unit_roundoff = std::numeric_limits<double>::epsilon() / 2;

/// value·(1 + slack) for value ≥ 0, itself never rounded below that.
[[nodiscard]] inline double rounded_up(double value, double slack) {
  return value * (1 + (slack + 4 * unit_roundoff));
}

/// value·(1 − slack) for value ≥ 0, itself never rounded above that.
[[nodiscard]] inline double rounded_down(double value, double slack) {
  return value * (1 - (slack + 4 * unit_roundoff));
}

}  // namespace nustream::privacy
