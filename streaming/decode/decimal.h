// Converts decimal digits to the nearest double by exact integer arithmetic alone, for the kernels, which have the
// digits as an integer already. It is tested against std::from_chars.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace nustream::decode {

/// Powers of ten that are doubles without rounding. An integer of at most 2^53 divided by one of them is rounded
/// once, to the nearest double.
///
/// Source: Clinger 1990, "How to read floating point numbers accurately".
inline constexpr std::array<double, 23> exact_powers_of_ten = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// The largest k for which quotient_by_power_of_ten(…, k) works: 5^k fits into 64 bits.
inline constexpr std::size_t decimal_places_max = 27;

__extension__ using Wide = unsigned __int128;

/// 5^k, prepared for divisions: shifted left until its top bit is set, with the inverse ⌊(2^128 − 1)/d⌋ − 2^64 of the
/// result d.
struct Divisor {
  std::uint64_t shifted;
  std::uint64_t inverse;
  int shift;
};

inline constexpr auto powers_of_five = [] {
  std::array<Divisor, decimal_places_max + 1> powers{};
  std::uint64_t power = 1;
  for (Divisor& divisor : powers) {
    divisor.shift = std::countl_zero(power);
    divisor.shifted = power << divisor.shift;
    divisor.inverse = static_cast<std::uint64_t>(~Wide{0} / divisor.shifted - (Wide{1} << 64));
    power *= 5;
  }
  return powers;
}();

struct Quotient {
  std::uint64_t quotient;
  std::uint64_t remainder;
};

/// The quotient and the remainder of (high·2^64 + low) / divisor.shifted, for high < divisor.shifted.
///
/// It has no branches, because no processor could predict which way each correction goes.
///
/// Source: Möller and Granlund 2011, "Improved division by invariant integers", Algorithm 4.
[[nodiscard]] inline Quotient divide(std::uint64_t high, std::uint64_t low, const Divisor& divisor) noexcept {
  const Wide estimate = Wide{divisor.inverse} * high + ((Wide{high} << 64) | low);
  Quotient result{static_cast<std::uint64_t>(estimate >> 64) + 1, 0};
  result.remainder = low - result.quotient * divisor.shifted;
  const std::uint64_t too_large = result.remainder > static_cast<std::uint64_t>(estimate) ? 1 : 0;
  result.quotient -= too_large;
  result.remainder += divisor.shifted & (0 - too_large);
  const std::uint64_t too_small = result.remainder >= divisor.shifted ? 1 : 0;
  result.quotient += too_small;
  result.remainder -= divisor.shifted & (0 - too_small);
  return result;
}

/// The double nearest to digits / 10^places, ties to even, for any digits > 0 and places ≤ decimal_places_max.
///
/// The quotient by 5^places is computed exactly, with its remainder, and rounded once; the powers of two go into the
/// exponent. No result is subnormal or infinite.
[[nodiscard]] inline double quotient_by_power_of_ten(std::uint64_t digits, std::size_t places) noexcept {
  const Divisor& five = powers_of_five[places];
  const int shift = std::countl_zero(digits);
  // The upper half of the numerator (digits << shift)·2^63 is below the divisor, so the quotient has 63 or 64 bits.
  const std::uint64_t high = (digits << shift) >> 1;
  const std::uint64_t low = digits << shift << 63;
  const auto [quotient, remainder] = divide(high, low, five);

  const int unused = std::countl_zero(quotient);
  const std::uint64_t normal = quotient << unused;
  const std::uint64_t kept = normal >> 11;
  // The bits that are cut off are compared with half of the last place. In a tie, a remainder rounds up, and so does
  // an odd last place.
  const std::uint64_t cut = (normal << 53) | (remainder != 0 ? 1 : 0);
  constexpr std::uint64_t half = std::uint64_t{1} << 63;
  const std::uint64_t up = cut > half - (kept & 1) ? 1 : 0;
  // The value is normal · 2^exponent. The leading one of `kept`, and a carry out of the rounding, both go into the
  // exponent's field by plain addition.
  const int exponent = five.shift - shift - static_cast<int>(places) - 63 - unused;
  const auto biased = static_cast<std::uint64_t>(exponent + 63 + 1023 - 1);
  return std::bit_cast<double>((biased << 52) + kept + up);
}

}  // namespace nustream::decode
