// The double nearest to digits × 10^exponent, from integer arithmetic alone.
#pragma once

#include <cstdint>
#include <limits>

namespace nustream::record {

/// What decimal_to_double returns where it has no exact way.
inline constexpr double no_exact_decimal = std::numeric_limits<double>::quiet_NaN();

/// Powers of ten that are doubles without rounding.
inline constexpr double exact_powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// The double nearest to digits × 10^exponent, ties to even, for any `digits` and −27 ≤ exponent ≤ 27: the range
/// in which 5^|exponent| fits into 64 bits and nothing need be approximated. no_exact_decimal (a NaN) outside of
/// it, unless digits is 0.
///
/// Source: Clinger 1990, "How to read floating point numbers accurately", for digits ≤ 2^53; beyond it one
/// exact 128-bit product or division, whose remainder decides the rounding.
[[nodiscard]] double decimal_to_double(std::uint64_t digits, int exponent) noexcept;

}  // namespace nustream::record
