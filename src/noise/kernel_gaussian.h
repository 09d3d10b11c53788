// Box–Muller with + − × ÷ √ and integers alone. IEEE 754 rounds each of these in exactly one way, so every machine
// computes the same bits. Each file that is compiled for one instruction set includes this once (kernels.h says what
// that forbids). The code has no branches, so that the compiler vectorises the loop over a chunk.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nustream::noise {
namespace {

constexpr std::size_t pairs_per_chunk = 128;

inline double from_bits(std::uint64_t bits) {
  return __builtin_bit_cast(double, bits);
}
inline std::uint64_t to_bits(double value) {
  return __builtin_bit_cast(std::uint64_t, value);
}

constexpr std::uint64_t sign_bit = 0x8000000000000000U;
constexpr std::uint64_t one_bits = 0x3ff0000000000000U;
constexpr std::uint64_t two_52_bits = 0x4330000000000000U;  // the bits of 2^52: or-ing an integer below 2^52 into
                                                            // them adds it
constexpr std::uint64_t mantissa_mask = 0x000fffffffffffffU;

/// (bits + ½)·2^-64, rounded to double. It lies in (0, 1] and has full relative precision near 0, where the tail of
/// the normal distribution comes from.
inline double centred_uniform(std::uint64_t bits) {
  const double high = from_bits((bits >> 12) | one_bits) - 1.0;
  const double low = from_bits((bits & 0xfff) | two_52_bits) - (0x1p52 - 0.5);
  return high + low * 0x1p-64;
}

/// ln u for normal u in (0, 1], with an error below 1 ulp. Let u = 2^k (1 + f) with 1 + f in [√½, √2) and s = f/(2 +
/// f); then ln(1 + f) = f − (h − s(h + R(s²))) with h = f²/2. Source: FreeBSD msun e_log.c.
inline double natural_logarithm(double u) {
  constexpr double ln2_high = 6.93147180369123816490e-01;
  constexpr double ln2_low = 1.90821492927058770002e-10;
  constexpr std::uint64_t root_half_bits = 0x3fe6a09e667f3bcdU;
  const std::uint64_t shifted = to_bits(u) + (one_bits - root_half_bits);
  const double k = from_bits((shifted >> 52) | two_52_bits) - (0x1p52 + 1023);
  const double f = from_bits((shifted & mantissa_mask) + root_half_bits) - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  double r = 1.479819860511658591e-01;
  r = r * z + 1.531383769920937332e-01;
  r = r * z + 1.818357216161805012e-01;
  r = r * z + 2.222219843214978396e-01;
  r = r * z + 2.857142874366239149e-01;
  r = r * z + 3.999999999940941908e-01;
  r = r * z + 6.666666666666735130e-01;
  r = r * z;
  const double h = 0.5 * f * f;
  return k * ln2_high - ((h - (s * (h + r) + k * ln2_low)) - f);
}

/// sin x for |x| ≤ π/4. Source: FreeBSD msun k_sin.c.
inline double sine(double x) {
  const double z = x * x;
  double r = 1.58969099521155010221e-10;
  r = r * z - 2.50507602534068634195e-08;
  r = r * z + 2.75573137070700676789e-06;
  r = r * z - 1.98412698298579493134e-04;
  r = r * z + 8.33333333332248946124e-03;
  r = r * z - 1.66666666666666324348e-01;
  return x * z * r + x;
}

/// cos x for |x| ≤ π/4. Source: FreeBSD msun k_cos.c.
inline double cosine(double x) {
  const double z = x * x;
  double r = -1.13596475577881948265e-11;
  r = r * z + 2.08757232129817482790e-09;
  r = r * z - 2.75573143513906633035e-07;
  r = r * z + 2.48015872894767294178e-05;
  r = r * z - 1.38888888888741095749e-03;
  r = r * z + 4.16666666666666019037e-02;
  return 1.0 - (0.5 * z - z * z * r);
}

/// The pair √(−2 ln u)·(cos φ, sin φ). Of the angle word, bit 63 is a quarter turn, bit 62 a half turn, and bits
/// 10…61 are the place within (−π/4, π/4), centred. Bits 0…9 are not used.
inline void box_muller(std::uint64_t radius_word, std::uint64_t angle_word, double& first, double& second) {
  constexpr double half_pi = 1.57079632679489661923;
  const double radius = __builtin_sqrt(-2.0 * natural_logarithm(centred_uniform(radius_word)));
  // The centring takes two additions, because 1.5 − 2^-53 is not a double. Both are exact.
  const double turn = (from_bits(((angle_word << 2) >> 12) | one_bits) - 1.5) + 0x1p-53;
  const std::uint64_t cosine_bits = to_bits(cosine(turn * half_pi));
  const std::uint64_t sine_bits = to_bits(sine(turn * half_pi));
  // A quarter turn swaps cosine and sine and changes one sign; a half turn changes both. Masks do it without a
  // branch.
  const std::uint64_t quarter = 0 - (angle_word >> 63);
  const std::uint64_t half = (angle_word << 1) & sign_bit;
  first = radius * from_bits(((cosine_bits & ~quarter) | ((sine_bits ^ sign_bit) & quarter)) ^ half);
  second = radius * from_bits(((sine_bits & ~quarter) | (cosine_bits & quarter)) ^ half);
}

inline void gaussian_kernel(const std::uint64_t* words, double* samples, std::size_t count) {
  for (std::size_t chunk = 0; chunk < count; chunk += 2 * pairs_per_chunk) {
    const std::uint64_t* __restrict in = words + chunk;
    double* __restrict out = samples + chunk;
    for (std::size_t i = 0; i < pairs_per_chunk; ++i) {
      box_muller(in[i], in[i + pairs_per_chunk], out[i], out[i + pairs_per_chunk]);
    }
  }
}

}  // namespace
}  // namespace nustream::noise
