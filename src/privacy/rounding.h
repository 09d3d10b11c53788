// Outward rounding: it moves a computed bound past everything that floating point may have lost, so that a
// reported spend is never below the true one.
#pragma once

#include <limits>

namespace nustream::privacy {

/// The unit roundoff u = 2^-53: the largest relative error of one rounding to double.
inline constexpr double unit_roundoff = std::numeric_limits<double>::epsilon() / 2;

/// value·(1 + slack) for value ≥ 0, with 4 u more, so that the roundings of this expression itself cannot take it
/// below.
[[nodiscard]] inline double rounded_up(double value, double slack) {
  return value * (1 + (slack + 4 * unit_roundoff));
}

/// value·(1 − slack) for value ≥ 0, with 4 u more, so that the roundings of this expression itself cannot take it
/// above.
[[nodiscard]] inline double rounded_down(double value, double slack) {
  return value * (1 - (slack + 4 * unit_roundoff));
}

}  // namespace nustream::privacy
