// Sums clipped gradients of one step where a gradient is a matrix, slopes ⊗ x: in losses of several predictors,
// two-stage models and second moments.
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

// The norm of an outer product is a product of two norms, and takes the roundings of both. So the radius is that of a
// vector with `columns` + `inputs` more entries than the gradient has.
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
  // ‖slopes ⊗ x‖ = ‖slopes‖·‖x‖, so the matrix is never formed to find its norm.
  const double of_slopes = squares_of(slopes);
  const double of_x = squares_of(x);
  const bool in_range = squares_in_range<2>(of_slopes) && squares_in_range<2>(of_x);
  if (__builtin_expect(!in_range, 0)) return add_out_of_range(slopes, x);
  // The gradient is clipped as a whole: with slope 1 and its own norm. Each column then has the factor times its
  // slope.
  const ClippedGradient clipped = clip_gradient(1, std::sqrt(of_slopes * of_x), {units_per_gradient_, radius_});
  std::int64_t* sum = sum_.data();
  for (const double slope : slopes) {
    const double factor = clipped.factor * slope;
    for (const double entry : x) {
      *sum = saturating_add(*sum, on_grid(factor, entry));
      ++sum;
    }
  }
  return clipped.is_long;
}

// A kernel sums into rows of whole packs. Their padding, from inputs_ to `stride`, is left out here.
void GradientSum::take(std::span<std::int64_t> units, std::size_t stride) {
  for (std::size_t j = 0; j < sum_.size(); ++j) {
    sum_[j] = saturating_add(sum_[j], units[j / inputs_ * stride + j % inputs_]);
  }
  std::ranges::fill(units, 0);
}

// The slow way for a record whose squares leave the range: the matrix is formed, and clip_to_grid() handles any
// number.
bool GradientSum::add_out_of_range(std::span<const double> slopes, std::span<const double> x) {
  double* entry = gradient_.data();
  for (const double slope : slopes) {
    for (const double input : x) *entry++ = slope * input;
  }
  const bool is_long = clip_to_grid(gradient_, grid_, clipped_);
  for (std::size_t j = 0; j < sum_.size(); ++j) sum_[j] = saturating_add(sum_[j], clipped_[j]);
  return is_long;
}

void take_step(const NoisyStep& step, std::span<const std::int64_t> sum, std::span<const std::int64_t> noise,
               std::span<double> theta) {
  for (std::size_t j = 0; j < theta.size(); ++j) theta[j] = step.moved(theta[j], add_noise(sum[j], noise[j]));
}

void take_step(const MomentumStep& step, std::span<const std::int64_t> sum, std::span<const std::int64_t> noise,
               std::span<double> velocity, std::span<double> theta) {
  for (std::size_t j = 0; j < theta.size(); ++j) {
    velocity[j] = step.velocity(velocity[j], theta[j], add_noise(sum[j], noise[j]));
    theta[j] = step.moved(theta[j], velocity[j]);
  }
}

}  // namespace nustream::descent
