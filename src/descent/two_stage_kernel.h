// Handles the records of one step of a two-stage model, compiled once for each instruction set; private to the
// descent room.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nustream::descent {
class GradientSum;
}

namespace nustream::descent::kernel {

/// `entries` rounded up to whole packs. Masked stores would make every record wait for the one before.
[[nodiscard]] constexpr std::size_t padded(std::size_t entries) noexcept {
  return (entries + 7) / 8 * 8;
}

/// The place where clipped outer products are added.
struct OuterTarget {
  GradientSum* sum;           // takes gradients outside the fast path; null: nothing is clipped here
  std::int64_t* units;        // takes those inside it: columns of padded(inputs) entries
  double units_per_gradient;  // 1/s
  double radius;              // clip_radius_in_units()
};

/// Rows are [z, x], as TwoStageShape says. The iterates are those of the step; nothing is moved in here.
struct TwoStageJob {
  std::size_t instruments;
  std::size_t controls;
  std::size_t endogenous;
  std::size_t records;
  const double* rows;   // records × (instruments + endogenous)
  const double* y;      // records
  const double* beta;   // controls + endogenous
  const double* first;  // endogenous × instruments

  OuterTarget second_stage;
  OuterTarget first_stage;
  double* public_sum;  // of a public first stage, endogenous columns of padded(instruments); otherwise null

  double* fitted;     // padded(controls + endogenous), zeros behind; scratch
  double* residuals;  // padded(endogenous), zeros behind; scratch
  std::uint64_t clipped;

  const double* weights = nullptr;  // records: what each gradient is multiplied by; null: 1
};

void run_two_stage_baseline(TwoStageJob& job);
#if defined(__x86_64__)
void run_two_stage_avx2(TwoStageJob& job);
void run_two_stage_avx512(TwoStageJob& job);
#endif

/// GradientSum's own path, called out of line, for NaN, infinity, overflow, underflow, or zeros.
[[nodiscard, gnu::cold]] bool add_out_of_range(GradientSum& sum, const double* slopes, std::size_t columns,
                                               const double* x, std::size_t inputs);

}  // namespace nustream::descent::kernel
