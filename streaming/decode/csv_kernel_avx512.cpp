// The kernel for processors with AVX-512 (from Ice Lake and Zen 4 on): 64 bytes are indexed at once, and four
// fields are read at once, each in its own 16-byte lane.
#include "decode/csv_kernel_list.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <bit>
#include <limits>

#include "decode/decimal.h"
#include "decode/simd_target.h"
#include "decode/sliding_masks.h"
#include "nustream/record/number.h"

// GCC 12 takes the deliberately undefined upper parts of its own intrinsics for mistakes (GCC bug 105593).
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

NUSTREAM_TARGET_BEGIN("avx512f,avx512cd,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt,lzcnt")

namespace nustream::decode {
namespace {

constexpr std::size_t block = 64;
constexpr std::uint32_t lane = 16;  // characters of a field that fit
constexpr double unreadable = std::numeric_limits<double>::quiet_NaN();

// In 64 mask bits, four lanes of 16.
constexpr std::uint64_t lane_tops = 0x8000'8000'8000'8000;

// Writes the positions of the set bits of `mask`, which stands for the block at `base`; may write up to 63 more.
void append_positions(std::uint64_t mask, std::uint32_t base, std::uint32_t* out) {
  alignas(64) static constexpr std::uint8_t ascending[block] = {
      0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
      22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
      44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
  const __m512i bases = _mm512_set1_epi32(static_cast<int>(base));
  __m512i left = _mm512_maskz_compress_epi8(mask, _mm512_load_si512(ascending));
  for (int count = std::popcount(mask);; count -= 16) {
    const __m512i sixteen = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(left));
    _mm512_storeu_si512(out, _mm512_add_epi32(sixteen, bases));
    if (count <= 16) return;
    left = _mm512_alignr_epi64(left, left, 2);
    out += 16;
  }
}

void index_segment(std::string_view segment, char delimiter, CsvIndex& index) {
  const __m512i delimiters = _mm512_set1_epi8(delimiter);
  const __m512i newlines = _mm512_set1_epi8('\n');
  const __m512i returns = _mm512_set1_epi8('\r');
  const __m512i quotes = _mm512_set1_epi8('"');
  std::size_t separators = 1;
  std::size_t rows = 0;
  std::size_t oddities = 0;
  index.separators[0] = std::numeric_limits<std::uint32_t>::max();
  for (std::size_t i = 0; i < segment.size(); i += block) {
    const auto base = static_cast<std::uint32_t>(i);
    const std::size_t left = segment.size() - i;
    const std::uint64_t inside = left >= block ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
    const __m512i bytes = _mm512_loadu_si512(segment.data() + i);
    const __m512i next = _mm512_loadu_si512(segment.data() + i + 1);

    const std::uint64_t ends = inside & _mm512_cmpeq_epi8_mask(bytes, newlines);
    const std::uint64_t returned =
        _mm512_mask_cmpeq_epi8_mask(_mm512_cmpeq_epi8_mask(bytes, returns), next, newlines);
    const std::uint64_t mask = inside & (ends | returned | _mm512_cmpeq_epi8_mask(bytes, delimiters));
    append_positions(mask, base, index.separators.data() + separators);
    for (std::uint64_t rest = ends; rest != 0; rest &= rest - 1) {
      const std::uint64_t before = mask & ((rest & -rest) - 1);
      index.row_ends[rows++] =
          static_cast<std::uint32_t>(separators) + static_cast<std::uint32_t>(std::popcount(before));
    }
    separators += static_cast<std::size_t>(std::popcount(mask));

    std::uint64_t odd = inside & (_mm512_cmpeq_epi8_mask(bytes, quotes) | _mm512_testn_epi8_mask(bytes, bytes));
    for (; odd != 0; odd &= odd - 1) {
      index.oddities[oddities++] = base + static_cast<std::uint32_t>(std::countr_zero(odd));
    }
  }
  index.row_count = rows;
  index.oddity_count = oddities;
}

// Four fields: where they end, and where they begin and end once more as vectors.
struct Fields {
  std::uint32_t end[number_group];
  __m128i begins, ends;
};

// Fields of consecutive columns lie side by side in the index.
inline Fields consecutive(const std::uint32_t* separators) {
  const auto* const ends = reinterpret_cast<const __m128i*>(separators);
  const auto* const befores = reinterpret_cast<const __m128i*>(separators - 1);
  return {{separators[0], separators[1], separators[2], separators[3]},
          _mm_add_epi32(_mm_loadu_si128(befores), _mm_set1_epi32(1)),
          _mm_loadu_si128(ends)};
}

inline __m128i four(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return _mm_setr_epi32(static_cast<int>(a), static_cast<int>(b), static_cast<int>(c), static_cast<int>(d));
}

inline Fields scattered(const std::uint32_t* separators, const std::uint32_t* columns) {
  const std::uint32_t* const at[] = {separators + columns[0], separators + columns[1], separators + columns[2],
                                     separators + columns[3]};
  return {{*at[0], *at[1], *at[2], *at[3]},
          _mm_add_epi32(four(at[0][-1], at[1][-1], at[2][-1], at[3][-1]), _mm_set1_epi32(1)),
          four(*at[0], *at[1], *at[2], *at[3])};
}

// Reads four plain numbers: an optional minus, digits, at most one dot, at most 16 characters.
// Returns false where one of them is anything else; `out` then holds nothing of use.
inline bool read_four(const char* segment, const Fields& fields, double* out) {
  // Each field at the upper end of its lane.
  const auto load = [&](std::size_t i) __attribute__((always_inline)) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(segment + fields.end[i] - lane));
  };
  __m512i text = _mm512_castsi128_si512(load(0));
  text = _mm512_inserti32x4(text, load(1), 1);
  text = _mm512_inserti32x4(text, load(2), 2);
  text = _mm512_inserti32x4(text, load(3), 3);

  const __m128i lengths = _mm_sub_epi32(fields.ends, fields.begins);
  if (_mm_cmpgt_epu32_mask(lengths, _mm_set1_epi32(lane)) != 0) return false;
  // In every byte of a lane: the length of its field, and how far the byte is from the end of the lane.
  const __m512i spread =
      _mm512_set_epi32(0x0c0c0c0c, 0x0c0c0c0c, 0x0c0c0c0c, 0x0c0c0c0c, 0x08080808, 0x08080808, 0x08080808, 0x08080808,
                       0x04040404, 0x04040404, 0x04040404, 0x04040404, 0, 0, 0, 0);
  const __m512i length = _mm512_permutexvar_epi8(spread, _mm512_castsi128_si512(lengths));
  const __m512i from_end =
      _mm512_broadcast_i32x4(_mm_setr_epi8(16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1));
  const __mmask64 first = _mm512_cmpeq_epi8_mask(from_end, length);
  const __mmask64 minus = _mm512_mask_cmpeq_epi8_mask(first, text, _mm512_set1_epi8('-'));
  const __mmask64 inside = _mm512_cmple_epu8_mask(from_end, length) & ~minus;
  const std::uint64_t dots = _mm512_mask_cmpeq_epi8_mask(inside, text, _mm512_set1_epi8('.'));

  // The digits before a dot move up by one, over it.
  const std::uint64_t has_dot = (((dots & ~lane_tops) + ~lane_tops) | dots) & lane_tops;
  const std::uint64_t up_to_dot = dots ^ (dots - (has_dot >> 15));
  const __m512i apart = _mm512_maskz_sub_epi8(inside, text, _mm512_set1_epi8('0'));
  const __m512i digits = _mm512_mask_blend_epi8(up_to_dot, apart, _mm512_bslli_epi128(apart, 1));

  // All digits, and at least one: the last character of the field, or the one before a last dot.
  if (_mm512_cmpgt_epu8_mask(digits, _mm512_set1_epi8(9)) != 0) return false;
  const std::uint64_t any = inside & ~dots;
  if (((any | (any << 1)) & lane_tops) != lane_tops) return false;

  // 16 digits → 8 pairs → 4 fours → 2 eights, twice in each lane.
  const __m512i pairs = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(0x010a));
  const __m512i fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x0001'0064));
  const __m512i eights = _mm512_madd_epi16(_mm512_packus_epi32(fours, fours), _mm512_set1_epi32(0x0001'2710));
  const __m512i sixteens =
      _mm512_add_epi64(_mm512_mul_epu32(eights, _mm512_set1_epi64(100'000'000)), _mm512_srli_epi64(eights, 32));
  const __m512i every_other = _mm512_setr_epi64(0, 2, 4, 6, 0, 2, 4, 6);
  const __m256i integers = _mm512_castsi512_si256(_mm512_permutexvar_epi64(every_other, sixteens));

  // Integer over power of ten, rounded once (Clinger): with a dot there are at most 15 digits, an exact integer;
  // without one the power is 1, and the conversion alone may round. In 64 bits, the zeros above a lane's dot are
  // 48 + digits behind it, or 64 without a dot; the permutation looks at the lower four bits of that.
  const __m256i lane_dots = _mm256_cvtepu16_epi64(_mm_cvtsi64_si128(static_cast<long long>(dots)));
  const __m512i zeros = _mm512_castsi256_si512(_mm256_lzcnt_epi64(lane_dots));
  const __m512d powers = _mm512_permutex2var_pd(_mm512_loadu_pd(exact_powers_of_ten.data()), zeros,
                                                _mm512_loadu_pd(exact_powers_of_ten.data() + 8));
  const __m256d magnitude = _mm256_div_pd(_mm256_cvtepi64_pd(integers), _mm512_castpd512_pd256(powers));
  const __m256i lane_minus = _mm256_cvtepu16_epi64(_mm_cvtsi64_si128(static_cast<long long>(minus)));
  const __mmask8 negative = _mm256_test_epi64_mask(lane_minus, lane_minus);
  _mm256_storeu_pd(out, _mm256_mask_xor_pd(magnitude, negative, magnitude, _mm256_set1_pd(-0.0)));
  return true;
}

#include "decode/number_avx2.inc"

inline double read_any(std::string_view field) {
  double value = 0;
  if (read_long(field.data(), field.data() + field.size(), value)) return value;
  return record::parse_number(field).value_or(unreadable);
}

// One group of columns, down all rows.
template <bool side_by_side>
void read_group(const char* segment, const CsvIndex& index, std::span<const std::uint32_t> rows,
                const std::uint32_t* columns, double* numbers, std::size_t stride) {
  for (const std::uint32_t first : rows) {
    const std::uint32_t* const separators = index.separators.data() + first;
    const Fields fields = side_by_side ? consecutive(separators + columns[0]) : scattered(separators, columns);
    if (!read_four(segment, fields, numbers)) {
      for (std::size_t i = 0; i < number_group; ++i)
        numbers[i] = read_any(field_at(segment, index, first + columns[i]));
    }
    numbers += stride;
  }
}

void read_numbers(const char* segment, const CsvIndex& index, std::span<const std::uint32_t> rows,
                  std::span<const std::uint32_t> columns, double* numbers) {
  for (std::size_t j = 0; j < columns.size(); j += number_group) {
    const std::uint32_t* const group = &columns[j];
    const bool side_by_side = group[1] == group[0] + 1 && group[2] == group[0] + 2 && group[3] == group[0] + 3;
    const auto read = side_by_side ? read_group<true> : read_group<false>;
    read(segment, index, rows, group, numbers + j, columns.size());
  }
}

}  // namespace
}  // namespace nustream::decode

NUSTREAM_TARGET_END
#endif

namespace nustream::decode {

std::optional<CsvKernel> avx512_csv_kernel() {
#if defined(__x86_64__)
  const bool available = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
                         __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("bmi2");
  if (available) return CsvKernel{"avx512", index_segment, read_numbers};
#endif
  return std::nullopt;
}

}  // namespace nustream::decode
