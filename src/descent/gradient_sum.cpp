#include "descent/gradient_sum.h"

#include <algorithm>
#include <cmath>

#include "nustream/descent/clip.h"

namespace nustream::descent {
namespace {

double squares_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum;
}

}  // namespace

GradientSum::GradientSum(const noise::Grid& grid, std::size_t columns, std::size_t inputs)
    : grid_(grid),
      inputs_(inputs),
      units_per_gradient_(1 / grid.spacing()),
      radius_(clip_radius_in_units(grid, columns * inputs + columns + inputs)),
      sum_(columns * inputs),
      gradient_(columns * inputs),
      clipped_(columns * inputs) {}

void GradientSum::clear() {
  std::ranges::fill(sum_, 0);
}

bool GradientSum::add(std::span<const double> slopes, std::span<const double> x) {
  // ‖slopes ⊗ x‖ = ‖slopes‖·‖x‖, so that its matrix is never formed. Each factor by itself is far from where squares
  // lose their digits: a product may look harmless between one that is subnormal and one that is huge.
  const double of_slopes = squares_of(slopes);
  const double of_x = squares_of(x);
  // Written so that a NaN fails it.
  const bool in_range = of_slopes > 0x1p-450 && of_slopes < 0x1p450 && of_x > 0x1p-450 && of_x < 0x1p450;
  if (__builtin_expect(!in_range, 0)) return add_out_of_range(slopes, x);
  const double squares = of_slopes * of_x;
  const double limit = radius_ / std::sqrt(squares);
  const bool is_long = units_per_gradient_ > limit;
  const double factor = is_long ? limit : units_per_gradient_;
  std::int64_t* sum = sum_.data();
  for (const double slope : slopes) {
    const double scaled = factor * slope;
    for (const double entry : x) {
      *sum = noise::saturating_add(*sum, static_cast<std::int64_t>(scaled * entry));
      ++sum;
    }
  }
  return is_long;
}

void GradientSum::take(std::span<std::int64_t> units, std::size_t stride) {
  for (std::size_t j = 0; j < sum_.size(); ++j) {
    sum_[j] = noise::saturating_add(sum_[j], units[j / inputs_ * stride + j % inputs_]);
  }
  std::ranges::fill(units, 0);
}

bool GradientSum::add_out_of_range(std::span<const double> slopes, std::span<const double> x) {
  double* entry = gradient_.data();
  for (const double slope : slopes) {
    for (const double input : x) *entry++ = slope * input;
  }
  const bool is_long = clip_to_grid(gradient_, grid_, clipped_);
  for (std::size_t j = 0; j < sum_.size(); ++j) sum_[j] = noise::saturating_add(sum_[j], clipped_[j]);
  return is_long;
}

void NoisyStep::apply(std::span<double> theta, std::span<const std::int64_t> sum,
                      std::span<const std::int64_t> noise) const {
  const double keep = 1 - step_size * l2;
  const double gain = step_size * gradient_per_unit;
  for (std::size_t j = 0; j < theta.size(); ++j) {
    theta[j] = theta[j] * keep - gain * static_cast<double>(noise::saturating_add(sum[j], noise[j]));
  }
}

}  // namespace nustream::descent
