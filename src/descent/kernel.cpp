// The variants of the inner loop, and what all of them call for records and iterates that are not of ordinary size.
// Such calls are rare, so these functions are compiled once, for the baseline.
#include "descent/kernel.h"

#include <cmath>
#include <span>
#include <vector>

#include "descent/gradient_sum.h"
#include "nustream/descent/clip.h"
#include "nustream/descent/projection.h"

namespace nustream::descent::kernel {

// From the fastest to the slowest: preferred() takes the first that this processor can run.
const Variant (&variants() noexcept)[variant_count] {
#if defined(__x86_64__)
  static const Variant all[] = {
      // AVX-512DQ has the conversions between doubles and 64-bit integers, which a gradient takes on its way to the
      // grid.
      {"avx512", run_avx512, run_two_stage_avx512,
       __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")},
      {"avx2", run_avx2, run_two_stage_avx2, static_cast<bool>(__builtin_cpu_supports("avx2"))},
      {"baseline", run_baseline, run_two_stage_baseline, true}};
#else
  static const Variant all[] = {{"baseline", run_baseline, run_two_stage_baseline, true}};
#endif
  return all;
}

const Variant& preferred() noexcept {
  for (const Variant& variant : variants()) {
    if (variant.available) return variant;
  }
  return variants()[variant_count - 1];
}

bool add_out_of_range(GradientSum& sum, const double* slopes, std::size_t columns, const double* x,
                      std::size_t inputs) {
  return sum.add({slopes, columns}, {x, inputs});
}

bool clip_out_of_range(const Job& job, double slope, const double* x, double y, bool uses_y) {
  // A record without a usable target is clipped with slope 0, which gives zeros whatever its row holds.
  const bool usable = !uses_y || std::isfinite(y);
  return clip_to_grid(usable ? slope : 0.0, {x, job.dimension}, *job.grid, {job.units, job.dimension});
}

void project_out_of_range(const Job& job) {
  job.bounds.projection->apply({job.theta, job.dimension});
}

}  // namespace nustream::descent::kernel
