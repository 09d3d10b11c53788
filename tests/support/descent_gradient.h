// The clipped gradient of one record exactly as a kernel adds it, to the last unit of the grid.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "descent/kernel.h"
#include "nustream/descent/clip.h"
#include "nustream/descent/packed.h"
#include "nustream/descent/projection.h"
#include "nustream/noise/grid.h"

namespace nustream::tests {

/// Runs one step on a minibatch of the record and a row of zeros, and returns the sum that the kernel had made
/// when it came to the zeros.
inline std::vector<std::int64_t> gradient_units(const descent::kernel::Variant& variant, const model::Loss& loss,
                                                const noise::Grid& grid, std::span<const double> theta,
                                                std::span<const double> x, double y, bool* clipped = nullptr) {
  const std::size_t d = theta.size();
  std::vector<double> rows(2 * d);
  std::copy(x.begin(), x.end(), rows.begin());
  const std::vector<double> targets = {y, 0.0};
  const std::vector<double> step_sizes = {0.0};
  const std::vector<std::int64_t> noise(d);
  const descent::Projection projection;
  descent::Packed<double> iterate(descent::packed_size(d));
  std::copy(theta.begin(), theta.end(), iterate.begin());
  descent::Packed<std::int64_t> sum(descent::packed_size(d));
  std::vector<std::int64_t> units(d);
  descent::kernel::Job job{.loss = loss,
                           .dimension = d,
                           .steps = 1,
                           .minibatch = 2,
                           .x = rows.data(),
                           .y = targets.data(),
                           .noise = noise.data(),
                           .step_sizes = step_sizes.data(),
                           .average_gains = nullptr,
                           .grid = &grid,
                           .units_per_gradient = 1 / grid.spacing(),
                           .radius = descent::clip_radius_in_units(grid, d),
                           .gradient_per_unit = grid.spacing() / 2,
                           .l2 = 0,
                           .ball_radius = 0,
                           .lower = nullptr,
                           .upper = nullptr,
                           .projection = &projection,
                           .theta = iterate.data(),
                           .sum = sum.data(),
                           .units = units.data(),
                           .average = nullptr,
                           .clipped = 0};
  variant.run(job);
  if (clipped != nullptr) *clipped = job.clipped > 0;
  return {sum.begin(), sum.begin() + static_cast<std::ptrdiff_t>(d)};
}

/// Whether ‖units‖₂·s ≤ factor·G, in exact arithmetic: both sides are integers below 2^113 after scaling.
inline bool within(std::span<const std::int64_t> units, const noise::Grid& grid, double clip_norm, int factor) {
  __float128 squares = 0;
  for (const std::int64_t unit : units) squares += static_cast<__float128>(unit) * static_cast<__float128>(unit);
  const __float128 bound = static_cast<__float128>(clip_norm) / static_cast<__float128>(grid.spacing()) * factor;
  return squares <= bound * bound;
}

}  // namespace nustream::tests
