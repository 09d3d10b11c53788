// The kernel for processors with AVX2 and BMI (x86-64-v3): 32 bytes at a time, one field at a time.
#include "decode/csv_kernel_list.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <bit>
#include <limits>

#include "decode/decimal.h"
#include "decode/simd_target.h"
#include "decode/sliding_masks.h"
#include "nustream/record/number.h"

NUSTREAM_TARGET_BEGIN("avx2,bmi,bmi2,popcnt,lzcnt")

namespace nustream::decode {
namespace {

// Bit i: byte i of the 64 at `bytes` is `wanted`.
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

#include "decode/number_avx2.inc"

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
