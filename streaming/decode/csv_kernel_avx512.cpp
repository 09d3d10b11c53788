// The kernel for processors with AVX-512 (from Ice Lake and Zen 4 on): 64 bytes are indexed at once, and four
// fields are read at once, each in a lane of its own.
#include "decode/csv_kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <bit>
#include <limits>

#include "decode/decimal.h"
#include "decode/simd.h"
#include "nustream/record/number.h"

// GCC 12 reports the deliberately undefined upper parts of its own intrinsics as mistakes (GCC bug 105593).
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

NUSTREAM_TARGET_BEGIN("fma,avx512f,avx512cd,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt,lzcnt")

namespace nustream::decode {
namespace {

constexpr std::size_t block = 64;
constexpr double unreadable = std::numeric_limits<double>::quiet_NaN();

// The positions of the bytes of a block, of which a mask picks those of its set bits.
alignas(block) constexpr std::uint8_t ascending_bytes[block] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
    22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
    44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};

// Writes the positions of the set bits of `mask`, which belongs to the block at `base`. It may write up to 63 entries
// beyond those.
void append_positions(std::uint64_t mask, std::uint32_t base, std::uint32_t* out) {
  const __m512i bases = _mm512_set1_epi32(static_cast<int>(base));
  __m512i left = _mm512_maskz_compress_epi8(mask, _mm512_load_si512(ascending_bytes));
  for (int count = std::popcount(mask);; count -= 16) {
    const __m512i sixteen = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(left));
    _mm512_storeu_si512(out, _mm512_add_epi32(sixteen, bases));
    if (count <= 16) return;
    // Moves the next sixteen bytes of positions down.
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
    // The last block may reach beyond the segment. Bits of bytes behind the end are cleared.
    const std::uint64_t inside = left >= block ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
    const __m512i bytes = _mm512_loadu_si512(segment.data() + i);
    // The bytes one place further on, for carriage returns right before a newline.
    const __m512i next = _mm512_loadu_si512(segment.data() + i + 1);

    const std::uint64_t ends = inside & _mm512_cmpeq_epi8_mask(bytes, newlines);
    const std::uint64_t returned =
        _mm512_mask_cmpeq_epi8_mask(_mm512_cmpeq_epi8_mask(bytes, returns), next, newlines);
    const std::uint64_t mask = inside & (ends | returned | _mm512_cmpeq_epi8_mask(bytes, delimiters));
    append_positions(mask, base, index.separators.data() + separators);
    for (std::uint64_t rest = ends; rest != 0; rest &= rest - 1) {
      // The separators of the block before this newline: their number is the newline's place in the index.
      const std::uint64_t before = mask & ((rest & -rest) - 1);
      index.row_ends[rows++] =
          static_cast<std::uint32_t>(separators) + static_cast<std::uint32_t>(std::popcount(before));
    }
    separators += static_cast<std::size_t>(std::popcount(mask));

    std::uint64_t odd = inside & (_mm512_cmpeq_epi8_mask(bytes, quotes) | _mm512_testn_epi8_mask(bytes, bytes));
    // Quotation marks and NUL bytes are rare, so that a loop over them is enough.
    for (; odd != 0; odd &= odd - 1) {
      index.oddities[oddities++] = base + static_cast<std::uint32_t>(std::countr_zero(odd));
    }
  }
  index.row_count = rows;
  index.oddity_count = oddities;
}

#include "decode/csv_numbers_avx512.inc"

// Reads one group of columns, down all rows.
template <bool side_by_side>
void read_group(const char* segment, const CsvIndex& index, std::span<const std::uint32_t> rows,
                const std::uint32_t* columns, double* numbers, std::size_t stride) {
  for (const std::uint32_t first : rows) {
    const std::uint32_t* const separators = index.separators.data() + first;
    const Fields fields = side_by_side ? consecutive(separators + columns[0]) : scattered(separators, columns);
    // One unusual field among four is enough to read all four of them in the plain way.
    if (!read_four(segment, fields, numbers)) {
      for (std::size_t i = 0; i < number_group; ++i)
        numbers[i] = record::parse_number(field_at(segment, index, first + columns[i])).value_or(unreadable);
    }
    numbers += stride;
  }
}

void read_numbers(const char* segment, const CsvIndex& index, std::span<const std::uint32_t> rows,
                  std::span<const std::uint32_t> columns, double* numbers) {
  for (std::size_t j = 0; j < columns.size(); j += number_group) {
    const std::uint32_t* const group = &columns[j];
    // Consecutive columns have consecutive entries in the index, which one load brings.
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

// Processors with these extensions also have the others that the region above is compiled for.
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
