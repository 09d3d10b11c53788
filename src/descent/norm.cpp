// ‖v‖₂ as a power of two times a number of ordinary size. clip_to_grid(), the contributions of users, row_factor()
// and the projection onto a ball use it where a plain sum of squares would overflow or vanish.
#include "descent/norm.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nustream::descent {

ScaledNorm scaled_norm(std::span<const double> v) {
  double largest = 0;
  for (const double entry : v) {
    if (!std::isfinite(entry)) return {1, std::numeric_limits<double>::quiet_NaN()};
    largest = std::max(largest, std::fabs(entry));
  }
  if (largest == 0) return {1, 0};
  // Dividing by a power of two is exact, and brings the largest entry into [1, 2): no square overflows.
  const int exponent = std::ilogb(largest);
  double squares = 0;
  for (const double entry : v) {
    const double scaled = std::scalbn(entry, -exponent);
    squares += scaled * scaled;
  }
  return {std::scalbn(1.0, exponent), std::sqrt(squares)};
}

}  // namespace nustream::descent
