// ‖v‖₂ as a power of two times a number of ordinary size. clip_to_grid(), the contributions of users, row_factor()
// and the projection onto a ball use it where a plain sum of squares would overflow or vanish.
#include "descent/norm.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace nustream::descent {
namespace {

// A double is 2^(exponent − 1023) times a number in [1, 2) of 52 bits behind the point.
constexpr int mantissa_bits = 52;
constexpr std::uint64_t of_one = 1023;

/// 2^(exponent − 1023), where 0 < exponent < 2047 is the exponent in a number's bits.
double power_of_two(std::uint64_t exponent) noexcept {
  return std::bit_cast<double>(exponent << mantissa_bits);
}

/// As below, for a largest entry whose power of two, or the reciprocal of that, is no normal number.
ScaledNorm norm_at_the_ends(std::span<const double> v, double largest) {
  const int exponent = std::ilogb(largest);
  double squares = 0;
  for (const double entry : v) {
    const double scaled = std::scalbn(entry, -exponent);
    squares += scaled * scaled;
  }
  return {std::scalbn(1.0, exponent), std::sqrt(squares)};
}

}  // namespace

ScaledNorm scaled_norm(std::span<const double> v) {
  double largest = 0;
  for (const double entry : v) {
    if (!std::isfinite(entry)) return {1, std::numeric_limits<double>::quiet_NaN()};
    largest = std::max(largest, std::fabs(entry));
  }
  if (largest == 0) return {1, 0};
  const std::uint64_t exponent = std::bit_cast<std::uint64_t>(largest) >> mantissa_bits;
  if (exponent == 0 || exponent >= 2 * of_one) return norm_at_the_ends(v, largest);
  // Multiplying by a power of two brings the largest entry into [1, 2), so that no square overflows. It is exact but
  // for entries far below the largest, which may underflow; their squares would not change the sum.
  const double down = power_of_two(2 * of_one - exponent);
  double squares = 0;
  for (const double entry : v) {
    const double scaled = entry * down;
    squares += scaled * scaled;
  }
  return {power_of_two(exponent), std::sqrt(squares)};
}

}  // namespace nustream::descent
