// Computes sums of geometric series by doubling; private to the privacy room.
#pragma once

#include <bit>
#include <cstdint>

namespace nustream::privacy::optimised {

/// The sums Σ_{t<n} x^t and Σ_{t<n} (n − t) x^t of x = 1 − gap over n = `terms`. They are built by doubling n. 1 −
/// x^n is kept in place of x^n, which is close to 1 where the gap is small:
///
///     1 − x^{2n} = (1 − x^n)(1 + x^n);  S_{2n} = S_n (1 + x^n);  R_{2n} = R_n (1 + x^n) + n S_n
///     S_{n+1} = S_n + x^n;  R_{n+1} = R_n + S_{n+1}.
template <class Number>
struct GeometricSums {
  Number plain = 0.0;
  Number ramped = 0.0;

  GeometricSums(const Number& gap, std::uint64_t terms) {
    Number fallen = 0.0;  // 1 − x^n
    std::uint64_t n = 0;
    for (int bit = 64 - std::countl_zero(terms); bit-- > 0;) {
      const Number twice = Number(2.0) - fallen;
      ramped = ramped * twice + Number(static_cast<double>(n)) * plain;
      plain = plain * twice;
      fallen = fallen * twice;
      n *= 2;
      if (((terms >> bit) & 1) == 0) continue;
      const Number power = Number(1.0) - fallen;
      plain = plain + power;
      ramped = ramped + plain;
      fallen = fallen + gap * power;
      ++n;
    }
  }
};

/// (1 − gap)^n by repeated squaring.
template <class Number>
Number power(const Number& gap, std::uint64_t n) {
  Number result = 1.0;
  Number square = Number(1.0) - gap;
  for (; n > 0; n >>= 1) {
    if ((n & 1) != 0) result = result * square;
    square = square * square;
  }
  return result;
}

}  // namespace nustream::privacy::optimised
