// Second moments as stages of their own: each record adds the clipped triangle of factor · x xᵀ, each step has noise,
// and a running mean is kept. The bread has the factor 1 (or the weight), the meat the squared residual.
#include "nustream/descent/second_moments.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "descent/gradient_sum.h"
#include "nustream/base/error.h"

namespace nustream::descent {

void isometric_triangle(std::span<const double> x, std::span<double> out) {
  double* entry = out.data();
  for (std::size_t i = 0; i < x.size(); ++i) {
    *entry++ = x[i] * x[i];
    // An entry beside the diagonal stands for two of the matrix. With the factor √2 the triangle has the matrix's
    // length ‖x‖², which the clip bounds.
    for (std::size_t j = i + 1; j < x.size(); ++j) *entry++ = std::numbers::sqrt2 * x[i] * x[j];
  }
}

std::vector<double> symmetric_matrix(std::span<const double> triangle, std::size_t dimension) {
  std::vector<double> matrix(dimension * dimension);
  const double* entry = triangle.data();
  for (std::size_t i = 0; i < dimension; ++i) {
    matrix[i * dimension + i] = *entry++;
    for (std::size_t j = i + 1; j < dimension; ++j) {
      // isometric_triangle() multiplied by √2.
      matrix[i * dimension + j] = matrix[j * dimension + i] = *entry++ / std::numbers::sqrt2;
    }
  }
  return matrix;
}

PrivateMean::PrivateMean(const noise::Grid& grid, std::size_t dimension, std::uint64_t minibatch)
    : per_unit_(grid.spacing() / static_cast<double>(minibatch)),
      sum_(std::make_unique<GradientSum>(grid, 1, triangle_size(dimension))),
      mean_(triangle_size(dimension)) {}

PrivateMean::~PrivateMean() = default;
PrivateMean::PrivateMean(PrivateMean&&) noexcept = default;
PrivateMean& PrivateMean::operator=(PrivateMean&&) noexcept = default;

// add() says whether the triangle was clipped. The lane counts that of the gradients of its descent alone.
void PrivateMean::add(std::span<const double> triangle, double factor) {
  static_cast<void>(sum_->add({&factor, 1}, triangle));
}

void PrivateMean::step(std::span<const std::int64_t> noise, double gain) {
  const std::span<const std::int64_t> sum = sum_->units();
  for (std::size_t j = 0; j < mean_.size(); ++j) {
    // Clipped integers and noise are added first, and only their sum becomes a real number.
    mean_[j] += gain * (per_unit_ * add_noise(sum[j], noise[j]) - mean_[j]);
  }
  sum_->clear();
}

void PrivateMean::restore(std::span<const double> mean) {
  NUSTREAM_REQUIRE(mean.size() == mean_.size(), "a mean of another dimension");
  std::ranges::copy(mean, mean_.begin());
}

SecondMoments::SecondMoments(const noise::Grid& bread, const noise::Grid* meat, std::size_t dimension,
                             std::uint64_t minibatch, std::uint64_t from)
    : dimension_(dimension),
      minibatch_(minibatch),
      from_(from),
      bread_(bread, dimension, minibatch),
      triangle_(triangle_size(dimension)) {
  if (meat != nullptr) meat_.emplace(*meat, dimension, minibatch);
}

std::uint64_t SecondMoments::count(StepCount steps) const noexcept {
  return steps.value() > from_ ? steps.value() - from_ : 0;
}

void SecondMoments::step(std::span<const double> x, std::span<const double> y, std::span<const double> theta,
                         std::span<const double> weights, std::span<const std::int64_t> bread_noise,
                         std::span<const std::int64_t> meat_noise, StepCount steps) {
  for (std::size_t i = 0; i < minibatch_; ++i) {
    const std::span<const double> row = x.subspan(i * dimension_, dimension_);
    isometric_triangle(row, triangle_);
    const double weight = weights.empty() ? 1 : weights[i];
    // A heavy record has a longer triangle, which is clipped to G like any other.
    bread_.add(triangle_, weight);
    if (!meat_) continue;
    // The meat sums g gᵀ, where g = slope · x is the gradient of the weighted record; so the weight is squared as
    // well.
    const double slope = weight * std::inner_product(row.begin(), row.end(), theta.begin(), -y[i]);
    meat_->add(triangle_, slope * slope);
  }
  // The means begin after from_ steps, but the noise of earlier steps is used up all the same: each step has its own.
  const std::uint64_t entered = count(StepCount{steps.value() + 1});
  // Gains of 1, ½, ⅓, … make a plain mean of the steps that have entered.
  const double gain = entered > 0 ? 1.0 / static_cast<double>(entered) : 0.0;
  bread_.step(bread_noise, gain);
  if (meat_) meat_->step(meat_noise, gain);
}

void SecondMoments::restore(std::span<const double> bread, std::span<const double> meat) {
  bread_.restore(bread);
  if (meat_) meat_->restore(meat);
}

}  // namespace nustream::descent
