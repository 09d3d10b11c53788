// The inner loop, compiled once for each instruction set; private to the descent room.
//
// kernel_body.h holds the code, and kernel_{baseline,avx2,avx512}.cpp compile it with different flags. All of them
// run the same IEEE operations in the same order: packs of eight, one reduction tree, no contraction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "descent/two_stage_kernel.h"
#include "nustream/model/loss.h"

namespace nustream::noise {
class Grid;
}
namespace nustream::descent {
class Projection;
}

namespace nustream::descent::kernel {

/// What an iterate is projected onto.
struct Bounds {
  double ball_radius;   // 0: no ball
  const double* lower;  // of a box, padded; null: no box
  const double* upper;
  const Projection* projection;  // for iterates outside the fast path
};

/// One stretch of steps, as pointers. Vectors called padded hold whole packs of eight, are aligned to 64 bytes, and
/// have zeros behind their d entries.
struct Job {
  model::Loss loss;
  std::size_t dimension;
  std::size_t steps;
  std::size_t minibatch;
  const double* x;              // steps × minibatch × d
  const double* y;              // steps × minibatch; not read where the loss has no target
  const std::int64_t* noise;    // steps × d
  const double* step_sizes;     // steps
  const double* average_gains;  // steps, or null

  const noise::Grid* grid;    // for gradients outside the fast path
  double units_per_gradient;  // 1/s
  double radius;              // clip_radius_in_units()
  double gradient_per_unit;   // s/m
  double l2;

  Bounds bounds;

  double* theta;          // padded
  std::int64_t* sum;      // padded; scratch
  std::int64_t* units;    // d; scratch
  double* average;        // d, or null
  std::uint64_t clipped;  // grows

  const double* weights = nullptr;  // steps × minibatch: what each gradient is multiplied by; null: 1

  double* velocity = nullptr;  // padded; null: no momentum
  double momentum = 0;
};

void run_baseline(Job& job);
#if defined(__x86_64__)
void run_avx2(Job& job);
void run_avx512(Job& job);
#endif

/// The kernels of one instruction set.
struct Variant {
  std::string_view name;
  void (*run)(Job&);
  void (*run_two_stage)(TwoStageJob&);
  bool available;  // whether this machine has the instructions
};
inline constexpr std::size_t variant_count =
#if defined(__x86_64__)
    3;
#else
    1;
#endif
/// All variants, the preferred one first.
[[nodiscard]] const Variant (&variants() noexcept)[variant_count];
/// The first variant that this machine can run.
[[nodiscard]] const Variant& preferred() noexcept;

// The kernels call these functions out of line, so that nothing but the kernels' own code is compiled with their
// flags. They are marked cold, so that the compiler keeps the iterate in registers around the calls.

/// clip_to_grid() for a record outside the fast path: NaN, infinity, overflow, underflow, or a row of zeros.
[[nodiscard, gnu::cold]] bool clip_out_of_range(const Job& job, double slope, const double* x, double y, bool uses_y);
/// Projects an iterate whose squared norm overflows or underflows.
[[gnu::cold]] void project_out_of_range(const Job& job);

}  // namespace nustream::descent::kernel
