// Finds out the clipped gradient of one record exactly as a kernel adds it, to the last unit of the grid.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "descent/kernel.h"
#include "nustream/descent/clip.h"
#include "nustream/descent/packed.h"
#include "nustream/descent/projection.h"
#include "nustream/noise/grid.h"

namespace nustream::tests {

/// What a kernel made of one step: θ after it, the sum of all gradients but the last, and whether one was too long.
struct OneStep {
  descent::Packed<double> theta;
  descent::Packed<std::int64_t> sum;
  bool clipped;
};

/// Takes one step over the minibatch of `targets.size()` rows. Its step size is 1, and the grid's spacing is left
/// out, so that θ moves by Σ_i u_i + z in units of the grid.
inline OneStep one_step(const descent::kernel::Variant& variant, const model::Loss& loss, const noise::Grid& grid,
                        std::span<const double> theta, std::span<const double> rows, std::span<const double> targets,
                        std::span<const std::int64_t> noise) {
  const std::size_t d = theta.size();
  const std::vector<double> step_sizes = {1.0};
  const descent::Projection projection;
  OneStep result{descent::Packed<double>(descent::packed_size(d)),
                 descent::Packed<std::int64_t>(descent::packed_size(d)), false};
  std::copy(theta.begin(), theta.end(), result.theta.begin());
  std::vector<std::int64_t> units(d);
  descent::kernel::Job job{
      .loss = loss,
      .dimension = d,
      .steps = 1,
      .minibatch = targets.size(),
      .x = rows.data(),
      .y = targets.data(),
      .noise = noise.data(),
      .step_sizes = step_sizes.data(),
      .average_gains = nullptr,
      .grid = &grid,
      .units_per_gradient = 1 / grid.spacing(),
      .radius = descent::clip_radius_in_units(grid, d),
      .gradient_per_unit = 1,
      .l2 = 0,
      .bounds = {.ball_radius = 0, .lower = nullptr, .upper = nullptr, .projection = &projection},
      .theta = result.theta.data(),
      .sum = result.sum.data(),
      .units = units.data(),
      .average = nullptr,
      .clipped = 0};
  variant.run(job);
  result.clipped = job.clipped > 0;
  return result;
}

/// Takes one step over the record and a row of zeros, and returns the sum that the kernel had when it came to the
/// zeros.
inline std::vector<std::int64_t> gradient_units(const descent::kernel::Variant& variant, const model::Loss& loss,
                                                const noise::Grid& grid, std::span<const double> theta,
                                                std::span<const double> x, double y, bool* clipped = nullptr) {
  const std::size_t d = theta.size();
  std::vector<double> rows(2 * d);
  std::copy(x.begin(), x.end(), rows.begin());
  const std::vector<double> targets = {y, 0.0};
  const std::vector<std::int64_t> noise(d);
  const OneStep step = one_step(variant, loss, grid, theta, rows, targets, noise);
  if (clipped != nullptr) *clipped = step.clipped;
  return {step.sum.begin(), step.sum.begin() + static_cast<std::ptrdiff_t>(d)};
}

/// Entries for which a norm is hard to compute: ties, ends of the range, denormals, runs of one value, and any mix of
/// them.
inline std::vector<double> adversarial(std::mt19937_64& random, std::size_t dimension) {
  constexpr double hard[] = {0.0,    -0.0,     1.0,   -1.0,     1.0 / 3, 0x1p-1074, 0x1.8p-1070, 0x1p-1022, 1e-200,
                             1e-160, 0x1p-450, 1e154, -1.3e154, 0x1p511, 0x1p450,   -1e200,      1.7e308,   -1.7e308};
  std::uniform_real_distribution<double> mantissa(-1, 1);
  std::vector<double> x(dimension);
  const auto kind = random() % 5;
  const double one = std::ldexp(mantissa(random), static_cast<int>(random() % 2040) - 1030);
  for (double& entry : x) {
    switch (kind) {
      case 0:
        entry = hard[random() % std::size(hard)];
        break;
      case 1:
        entry = std::ldexp(mantissa(random), static_cast<int>(random() % 2090) - 1070);
        break;
      case 2:
        entry = one;
        break;
      case 3:
        entry = mantissa(random);
        break;
      default:
        entry = random() % 50 == 0 ? one : 0.0;
    }
  }
  return x;
}

/// Whether ‖units‖₂·s ≤ factor·G, in exact arithmetic: after scaling, both sides are integers below 2^113.
inline bool within(std::span<const std::int64_t> units, const noise::Grid& grid, double clip_norm, int factor) {
  __float128 squares = 0;
  for (const std::int64_t unit : units) squares += static_cast<__float128>(unit) * static_cast<__float128>(unit);
  const __float128 bound = static_cast<__float128>(clip_norm) / static_cast<__float128>(grid.spacing()) * factor;
  return squares <= bound * bound;
}

}  // namespace nustream::tests
