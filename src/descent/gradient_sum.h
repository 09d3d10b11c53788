// Computes Σ_i trunc(clip(g_i, G)/s) over the records of one step, for gradients that are outer products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "descent/private_step.h"
#include "nustream/noise/grid.h"

namespace nustream::descent {

/// The sum of the clipped gradients of one step on the grid, in saturating 64-bit integers. Each record moves the sum
/// by at most G/s in norm, whatever it holds.
class GradientSum {
 public:
  /// A sum of gradients with columns · inputs entries, column by column.
  GradientSum(const noise::Grid& grid, std::size_t columns, std::size_t inputs);

  void clear();
  /// Adds the record whose gradient has slope_k · x_j at k·inputs + j. Adds nothing where an entry of it is not
  /// finite. Returns whether the gradient was longer than G, which only the operator may see.
  bool add(std::span<const double> slopes, std::span<const double> x);

  /// Adds what a kernel summed up, in columns of `stride` entries, and sets it to zero.
  void take(std::span<std::int64_t> units, std::size_t stride);
  /// The numbers that a kernel needs to clip likewise: 1/s, and the bound of the norm in units of the grid.
  [[nodiscard]] double units_per_gradient() const noexcept { return units_per_gradient_; }
  [[nodiscard]] double radius() const noexcept { return radius_; }

  /// The sum: columns · inputs entries, units of the grid.
  [[nodiscard]] std::span<const std::int64_t> units() const noexcept { return sum_; }

 private:
  bool add_out_of_range(std::span<const double> slopes, std::span<const double> x);

  noise::Grid grid_;
  std::size_t inputs_;
  double units_per_gradient_;
  double radius_;  // clip_radius_in_units()
  std::vector<std::int64_t> sum_;
  std::vector<double> gradient_;       // a record outside the fast path
  std::vector<std::int64_t> clipped_;  // the same record, clipped and on the grid
};

/// Moves an iterate by one step, entry by entry, with add_noise() and NoisyStep of private_step.h. All spans have one
/// size.
void take_step(const NoisyStep& step, std::span<const std::int64_t> sum, std::span<const std::int64_t> noise,
               std::span<double> theta);
/// Moves it with momentum instead, with MomentumStep. `velocity` has as many entries.
void take_step(const MomentumStep& step, std::span<const std::int64_t> sum, std::span<const std::int64_t> noise,
               std::span<double> velocity, std::span<double> theta);

}  // namespace nustream::descent
