// Packs of eight doubles, or of eight 64-bit integers, side by side, and the arithmetic that the kernels do with
// them.
//
// Only the kernels include this header, each inside an unnamed namespace of its own: every copy is compiled with
// other flags, and the linker may not merge any two. A pack is one, two or four native vectors. Whichever it is,
// element j goes through the same operations.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace nustream::descent::kernel {
namespace {

constexpr std::size_t pack_size = 8;

#if defined(__AVX512F__) && defined(__AVX512DQ__)
constexpr std::size_t native_size = 8;
#elif defined(__AVX2__)
constexpr std::size_t native_size = 4;
#else
constexpr std::size_t native_size = 2;
#endif
constexpr std::size_t parts = pack_size / native_size;

using NativeReal [[gnu::vector_size(8 * native_size)]] = double;
using NativeInteger [[gnu::vector_size(8 * native_size)]] = std::int64_t;
using NativeBits [[gnu::vector_size(8 * native_size)]] = std::uint64_t;
// The same types as they lie in memory, without alignment.
using UnalignedReal [[gnu::vector_size(8 * native_size), gnu::aligned(8), gnu::may_alias]] = double;
using UnalignedInteger [[gnu::vector_size(8 * native_size), gnu::aligned(8), gnu::may_alias]] = std::int64_t;

struct Reals {
  NativeReal part[parts];
};
struct Integers {
  NativeInteger part[parts];
};

// The loop is unrolled, so that the parts stay in registers.
#define NUSTREAM_EACH_PART _Pragma("GCC unroll 4") for (std::size_t i = 0; i < parts; ++i)

inline Reals broadcast(double value) {
  Reals result;
  NUSTREAM_EACH_PART result.part[i] = value - NativeReal{};
  return result;
}
inline Reals operator+(Reals a, const Reals& b) {
  NUSTREAM_EACH_PART a.part[i] += b.part[i];
  return a;
}
inline Reals operator-(Reals a, const Reals& b) {
  NUSTREAM_EACH_PART a.part[i] -= b.part[i];
  return a;
}
inline Reals operator*(Reals a, const Reals& b) {
  NUSTREAM_EACH_PART a.part[i] *= b.part[i];
  return a;
}
[[gnu::always_inline]] inline Reals operator*(double a, const Reals& b) {
  return broadcast(a) * b;
}

// Clamps each entry. A NaN in `value` stays a NaN.
inline Reals clamp(Reals value, const Reals& lower, const Reals& upper) {
  NUSTREAM_EACH_PART {
    const NativeReal raised = value.part[i] < lower.part[i] ? lower.part[i] : value.part[i];
    value.part[i] = raised > upper.part[i] ? upper.part[i] : raised;
  }
  return value;
}

// The sum ((0+4)+(2+6)) + ((1+5)+(3+7)), in this order on every instruction set, so that its rounding is the same.
inline double sum(const Reals& a) {
#if defined(__AVX2__)
  using Four [[gnu::vector_size(32)]] = double;
  using Two [[gnu::vector_size(16)]] = double;
#if defined(__AVX512DQ__)
  const Four fours = __builtin_shufflevector(a.part[0], a.part[0], 0, 1, 2, 3) +
                     __builtin_shufflevector(a.part[0], a.part[0], 4, 5, 6, 7);
#else
  const Four fours = a.part[0] + a.part[1];
#endif
  const Two twos = __builtin_shufflevector(fours, fours, 0, 1) + __builtin_shufflevector(fours, fours, 2, 3);
#else
  const NativeReal twos = (a.part[0] + a.part[2]) + (a.part[1] + a.part[3]);
#endif
  return twos[0] + twos[1];
}

inline Reals load(const double* from) {
  Reals result;
  NUSTREAM_EACH_PART result.part[i] = *reinterpret_cast<const UnalignedReal*>(from + i * native_size);
  return result;
}
inline Integers load(const std::int64_t* from) {
  Integers result;
  NUSTREAM_EACH_PART result.part[i] = *reinterpret_cast<const UnalignedInteger*>(from + i * native_size);
  return result;
}
inline void store(double* to, const Reals& value) {
  NUSTREAM_EACH_PART* reinterpret_cast<UnalignedReal*>(to + i * native_size) = value.part[i];
}
inline void store(std::int64_t* to, const Integers& value) {
  NUSTREAM_EACH_PART* reinterpret_cast<UnalignedInteger*>(to + i * native_size) = value.part[i];
}

#if defined(__AVX512F__) && defined(__AVX512DQ__)

inline __mmask8 first(std::size_t count) {
  return static_cast<__mmask8>((1U << count) - 1);
}
// Reads or writes the first `count` ≤ 8 entries, with zeros behind them; memory behind them is not touched.
inline Reals load_first(const double* from, std::size_t count) {
  return {{_mm512_maskz_loadu_pd(first(count), from)}};
}
inline Integers load_first(const std::int64_t* from, std::size_t count) {
  return {{reinterpret_cast<NativeInteger>(_mm512_maskz_loadu_epi64(first(count), from))}};
}
inline void store_first(double* to, const Reals& value, std::size_t count) {
  _mm512_mask_storeu_pd(to, first(count), value.part[0]);
}
inline void store_first(std::int64_t* to, const Integers& value, std::size_t count) {
  _mm512_mask_storeu_epi64(to, first(count), reinterpret_cast<__m512i>(value.part[0]));
}

#elif defined(__AVX2__)

inline __m256i first(std::size_t count, std::size_t part) {
  const auto left = static_cast<long long>(count) - static_cast<long long>(part * native_size);
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(left), _mm256_setr_epi64x(0, 1, 2, 3));
}
inline Reals load_first(const double* from, std::size_t count) {
  return {{_mm256_maskload_pd(from, first(count, 0)), _mm256_maskload_pd(from + native_size, first(count, 1))}};
}
inline Integers load_first(const std::int64_t* from, std::size_t count) {
  const auto* const words = reinterpret_cast<const long long*>(from);
  return {{reinterpret_cast<NativeInteger>(_mm256_maskload_epi64(words, first(count, 0))),
           reinterpret_cast<NativeInteger>(_mm256_maskload_epi64(words + native_size, first(count, 1)))}};
}
inline void store_first(double* to, const Reals& value, std::size_t count) {
  _mm256_maskstore_pd(to, first(count, 0), value.part[0]);
  _mm256_maskstore_pd(to + native_size, first(count, 1), value.part[1]);
}
inline void store_first(std::int64_t* to, const Integers& value, std::size_t count) {
  auto* const words = reinterpret_cast<long long*>(to);
  _mm256_maskstore_epi64(words, first(count, 0), reinterpret_cast<__m256i>(value.part[0]));
  _mm256_maskstore_epi64(words + native_size, first(count, 1), reinterpret_cast<__m256i>(value.part[1]));
}

#else

inline Reals load_first(const double* from, std::size_t count) {
  double entries[pack_size] = {};
  for (std::size_t j = 0; j < count; ++j) entries[j] = from[j];
  return load(entries);
}
inline Integers load_first(const std::int64_t* from, std::size_t count) {
  std::int64_t entries[pack_size] = {};
  for (std::size_t j = 0; j < count; ++j) entries[j] = from[j];
  return load(entries);
}
inline void store_first(double* to, const Reals& value, std::size_t count) {
  double entries[pack_size];
  store(entries, value);
  for (std::size_t j = 0; j < count; ++j) to[j] = entries[j];
}
inline void store_first(std::int64_t* to, const Integers& value, std::size_t count) {
  std::int64_t entries[pack_size];
  store(entries, value);
  for (std::size_t j = 0; j < count; ++j) to[j] = entries[j];
}

#endif

// Says which entries of a pack exist: all of them, or the first ones of the last pack.
struct Whole {};
struct First {
  std::size_t count;  // 1 … 8
};
template <class Entry>
inline auto get(const Entry* from, Whole) {
  return load(from);
}
template <class Entry>
inline auto get(const Entry* from, First first) {
  return load_first(from, first.count);
}
template <class Entry, class Pack>
inline void put(Entry* to, Whole, const Pack& value) {
  store(to, value);
}
template <class Entry, class Pack>
inline void put(Entry* to, First first, const Pack& value) {
  store_first(to, value, first.count);
}

// Rounds towards zero, for |value| < 2^51.
inline Integers truncate(const Reals& value) {
  Integers result;
#if defined(__AVX2__) && !defined(__AVX512DQ__)
  // Adding 1.5·2^52 to an integer below 2^51 leaves that integer in the low bits. AVX2 has no conversion for 64 bits.
  const NativeReal shift = 0x1.8p52 - NativeReal{};
  NUSTREAM_EACH_PART {
    const NativeReal whole = _mm256_round_pd(value.part[i], _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    result.part[i] = reinterpret_cast<NativeInteger>(whole + shift) - reinterpret_cast<NativeInteger>(shift);
  }
#else
  NUSTREAM_EACH_PART result.part[i] = __builtin_convertvector(value.part[i], NativeInteger);
#endif
  return result;
}

// Converts to the nearest double, for any integer.
inline Reals to_reals(const Integers& value) {
  Reals result;
#if defined(__AVX2__) && !defined(__AVX512DQ__)
  // The high half goes over 2^84 + 2^63 and the low half over 2^52; there is one rounding, where the two meet.
  const NativeInteger high_base = 0x4530000080000000 - NativeInteger{};
  const NativeInteger low_base = 0x4330000000000000 - NativeInteger{};
  const NativeReal both = 0x1.00000801p84 - NativeReal{};
  NUSTREAM_EACH_PART {
    const NativeBits bits = reinterpret_cast<NativeBits>(value.part[i]);
    const NativeBits high = (bits >> 32) ^ reinterpret_cast<NativeBits>(high_base);
    const NativeBits low = (bits & 0xffffffffU) | reinterpret_cast<NativeBits>(low_base);
    result.part[i] = (reinterpret_cast<NativeReal>(high) - both) + reinterpret_cast<NativeReal>(low);
  }
#else
  NUSTREAM_EACH_PART result.part[i] = __builtin_convertvector(value.part[i], NativeReal);
#endif
  return result;
}

// The sum overflowed where both addends differ from it in sign; it then becomes the end of the range on their side.
inline Integers saturating_add(const Integers& a, const Integers& b) {
  Integers result;
  NUSTREAM_EACH_PART {
    const NativeInteger total = reinterpret_cast<NativeInteger>(reinterpret_cast<NativeBits>(a.part[i]) +
                                                                reinterpret_cast<NativeBits>(b.part[i]));
    const NativeInteger overflow = (a.part[i] ^ total) & (b.part[i] ^ total);  // sign bit set
    const NativeInteger end = (a.part[i] >> 63) ^ INT64_MAX;
    result.part[i] = overflow < 0 ? end : total;
  }
  return result;
}

}  // namespace
}  // namespace nustream::descent::kernel
