// The kernel for processors with AVX2 and BMI (x86-64-v3): 32 bytes at a time, one field at a time.
#include "decode/csv_kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <bit>
#include <limits>

#include "decode/decimal.h"
#include "decode/simd.h"
#include "nustream/record/number.h"

NUSTREAM_TARGET_BEGIN("avx2,bmi,bmi2,popcnt,lzcnt")

namespace nustream::decode {
namespace {

// 64 bytes. Bit i of equal() says whether byte i is `wanted`.
struct Block {
  __m256i low, high;

  explicit Block(const char* bytes)
      : low(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes))),
        high(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes) + 1)) {}
  [[nodiscard]] std::uint64_t equal(char wanted) const {
    const __m256i all = _mm256_set1_epi8(wanted);
    const auto lower = static_cast<unsigned>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, all)));
    const auto upper = static_cast<unsigned>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, all)));
    return lower | (std::uint64_t{upper} << 32);
  }
};

inline __m256i load_32(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

// Reads an optional minus, digits and at most one dot: at most 32 characters after the minus, digits below 2^64, and
// at most decimal_places_max of them behind the dot. Returns false where the field is anything else.
inline bool read_long(const char* begin, const char* end, double& out) {
  constexpr std::size_t width = 32;
  const bool negative = *begin == '-';
  const std::size_t length = static_cast<std::size_t>(end - begin) - (negative ? 1 : 0);
  // An empty field has length 0, which wraps around and is refused by the same comparison.
  if (length - 1 >= width) return false;
  // `apart` has the field at the upper end of the vector, `moved` has it one place further up; both have zeros around
  // it.
  const __m256i zero = _mm256_set1_epi8('0');
  const __m256i inside = load_32(upper_bytes<width>.data() + length);
  const __m256i moved_inside = load_32(upper_bytes<width>.data() + length - 1);
  const __m256i apart = _mm256_and_si256(_mm256_sub_epi8(load_32(end - width), zero), inside);
  const __m256i moved = _mm256_and_si256(_mm256_sub_epi8(load_32(end - width - 1), zero), moved_inside);

  // The digits before the dot move up by one place, over the dot.
  const auto dots =
      static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(apart, _mm256_set1_epi8('.' - '0'))));
  // Characters behind the dot; 32 where there is none.
  const auto behind = static_cast<std::size_t>(std::countl_zero(dots));
  const std::size_t places = dots == 0 ? 0 : behind;
  const __m256i up_to_dot = load_32(lower_bytes<width>.data() + behind);
  const __m256i digits = _mm256_blendv_epi8(apart, moved, up_to_dot);
  const __m256i nines = _mm256_set1_epi8(9);
  if (_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(digits, nines), nines)) != -1) return false;
  // A dot alone is no number. A second dot was found above, since it is no digit.
  if ((length == 1 && dots != 0) || places > decimal_places_max) return false;

  // 32 digits become 16 pairs, then 8 fours, then 4 eights.
  // Each step joins neighbours: 10·a + b, then 100·a + b, then 10,000·a + b.
  const __m256i pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(0x010a));
  const __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x0001'0064));
  const __m256i eights = _mm256_madd_epi16(_mm256_packus_epi32(fours, fours), _mm256_set1_epi32(0x0001'2710));
  const auto sixteen = [](std::int64_t two_eights) {
    const auto both = static_cast<std::uint64_t>(two_eights);
    return (both & 0xffff'ffff) * 100'000'000 + (both >> 32);
  };
  const std::uint64_t high = sixteen(_mm256_extract_epi64(eights, 0));
  const std::uint64_t low = sixteen(_mm256_extract_epi64(eights, 2));
  constexpr std::uint64_t sixteen_digits = 10'000'000'000'000'000;
  // 32 digits may exceed 64 bits. Such a number is left to the standard library.
  if (high >= ~std::uint64_t{0} / sixteen_digits) return false;
  const std::uint64_t integer = high * sixteen_digits + low;

  // quotient_by_power_of_ten() needs digits above 0. The sign is set apart, so that -0 keeps it.
  const double magnitude = integer == 0 ? 0 : quotient_by_power_of_ten(integer, places);
  out = std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) | (std::uint64_t{negative} << 63));
  return true;
}

#include "decode/csv_kernel_x86.inc"

}  // namespace
}  // namespace nustream::decode

NUSTREAM_TARGET_END
#endif

namespace nustream::decode {

std::optional<CsvKernel> avx2_csv_kernel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")) {
    return CsvKernel{"avx2", index_segment, read_numbers};
  }
#endif
  return std::nullopt;
}

}  // namespace nustream::decode
