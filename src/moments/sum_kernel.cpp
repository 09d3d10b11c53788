// Chooses among the compiled kernels by what the processor can do when the program runs, so that one binary serves
// all machines of an architecture.
#include "moments/sum_kernel.h"

#include <vector>

namespace nustream::moments::kernel {

/// Each of the files sum_kernel_*.cpp defines one.
extern const Variant baseline;
#if defined(__x86_64__)
extern const Variant avx2;
extern const Variant avx512;
#endif

std::span<const Variant> variants() {
  // From the widest instructions down; the baseline is always there.
  static const std::vector<Variant> all = [] {
    std::vector<Variant> found;
#if defined(__x86_64__)
    // AVX-512DQ has the conversions from doubles to 64-bit integers.
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) found.push_back(avx512);
    if (__builtin_cpu_supports("avx2")) found.push_back(avx2);
#endif
    found.push_back(baseline);
    return found;
  }();
  return all;
}

}  // namespace nustream::moments::kernel
