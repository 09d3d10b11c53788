// Σ_i trunc(clip(g_i, G)/s) over the records of one step, for gradients that are outer products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "descent/private_step.h"
#include "nustream/noise/grid.h"

namespace nustream::descent {

/// The clipped gradients of one step on the grid, in saturating 64-bit integers: each record moves the sum by at most
/// G/s in norm, whatever it holds.
class GradientSum {
 public:
  /// Of gradients with columns · inputs entries, column by column.
  GradientSum(const noise::Grid& grid, std::size_t columns, std::size_t inputs);

  void clear();
  /// Adds the record whose gradient is slope_k · x_j at k·inputs + j; nothing where an entry of it is not finite.
  /// Returns whether it was longer than G (operator side only).
  bool add(std::span<const double> slopes, std::span<const double> x);

  /// Adds what a kernel summed up, columns of `stride` entries, and sets it to zero.
  void take(std::span<std::int64_t> units, std::size_t stride);
  /// What a kernel needs to do the same: 1/s, and G in units of the grid.
  [[nodiscard]] double units_per_gradient() const noexcept { return units_per_gradient_; }
  [[nodiscard]] double radius() const noexcept { return radius_; }

  /// Columns · inputs entries, units of the grid.
  [[nodiscard]] std::span<const std::int64_t> units() const noexcept { return sum_; }

 private:
  bool add_out_of_range(std::span<const double> slopes, std::span<const double> x);

  noise::Grid grid_;
  std::size_t inputs_;
  double units_per_gradient_;
  double radius_;  // clip_radius_in_units()
  std::vector<std::int64_t> sum_;
  std::vector<double> gradient_;       // of a record outside the fast path
  std::vector<std::int64_t> clipped_;  // the same, on the grid
};

/// Moves an iterate by one step: add_noise() and NoisyStep of private_step.h, entry by entry. Spans of one size.
void take_step(const NoisyStep& step, std::span<const std::int64_t> sum, std::span<const std::int64_t> noise,
               std::span<double> theta);
/// The same with momentum: MomentumStep. `velocity` has as many entries.
void take_step(const MomentumStep& step, std::span<const std::int64_t> sum, std::span<const std::int64_t> noise,
               std::span<double> velocity, std::span<double> theta);

}  // namespace nustream::descent
