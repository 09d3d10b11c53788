// Rounds to the grid. Each file that is compiled for one instruction set includes this once (kernels.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace nustream::noise {
namespace {

/// Adding 1.5·2^52 leaves the nearest integer, ties to even, in the low bits of the mantissa. In two's complement
/// that is right for any |x| ≤ 2^51. It needs no conversion instruction; SSE2 and AVX2 have none for 64 bits.
inline void round_kernel(const double* __restrict z, double scale, std::int64_t* __restrict units,
                         std::size_t count) {
  constexpr double limit = 0x1p51;
  constexpr double magic = 0x1.8p52;
  constexpr std::int64_t magic_bits = __builtin_bit_cast(std::int64_t, magic);
  for (std::size_t i = 0; i < count; ++i) {
    double x = z[i] * scale;
    x = x < limit ? x : limit;
    x = x > -limit ? x : -limit;
    units[i] = __builtin_bit_cast(std::int64_t, x + magic) - magic_bits;
  }
}

}  // namespace
}  // namespace nustream::noise
