// The kernel for processors with SSE4.2 (x86-64-v2): 16 bytes at a time, one field at a time.
#include "decode/csv_kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <bit>
#include <limits>

#include "decode/decimal.h"
#include "decode/simd.h"
#include "nustream/record/number.h"

NUSTREAM_TARGET_BEGIN("sse4.2,ssse3,popcnt")

namespace nustream::decode {
namespace {

// 64 bytes. Bit i of equal() says whether byte i is `wanted`.
struct Block {
  __m128i part[4];

  explicit Block(const char* bytes) {
    for (int p = 0; p < 4; ++p) part[p] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes) + p);
  }
  [[nodiscard]] std::uint64_t equal(char wanted) const {
    const __m128i all = _mm_set1_epi8(wanted);
    std::uint64_t mask = 0;
    for (int p = 0; p < 4; ++p) {
      const auto bits = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(part[p], all)));
      mask |= std::uint64_t{bits} << (16 * p);
    }
    return mask;
  }
};

// Longer numbers are left to the standard library.
inline bool read_long(const char*, const char*, double&) {
  return false;
}

#include "decode/csv_kernel_x86.inc"

}  // namespace
}  // namespace nustream::decode

NUSTREAM_TARGET_END
#endif

namespace nustream::decode {

// On another kind of machine the file is empty but for this function, which then offers nothing.
std::optional<CsvKernel> sse4_csv_kernel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt")) {
    return CsvKernel{"sse4", index_segment, read_numbers};
  }
#endif
  return std::nullopt;
}

}  // namespace nustream::decode
