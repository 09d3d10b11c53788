#include "nustream/descent/two_stage_loop.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "descent/average_step.h"
#include "descent/check_rule.h"
#include "descent/gradient_sum.h"
#include "nustream/base/error.h"

namespace nustream::descent {
namespace {

const TwoStageShape& checked(const TwoStageRule& rule, std::span<const double> start) {
  const TwoStageShape& shape = rule.shape;
  if (shape.endogenous == 0) throw InvalidParameter("endogenous", "none", "at least one regressor");
  if (shape.controls > shape.instruments || shape.instruments - shape.controls < shape.endogenous) {
    throw InvalidParameter("instruments",
                           std::to_string(shape.instruments - std::min(shape.controls, shape.instruments)),
                           "at least as many as there are endogenous regressors");
  }
  check_start(start);
  if (start.size() != shape.dimension()) {
    throw InvalidParameter("start", std::to_string(start.size()) + " entries",
                           std::to_string(shape.dimension()) + " entries, of both stages");
  }
  rule.projection.check(shape.second_stage());
  check_l2(rule.l2);
  check_l2(rule.first_l2);
  if (rule.minibatch == 0) throw InvalidParameter("minibatch", "0", "at least one record");
  return shape;
}

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

TwoStageLoop::TwoStageLoop(const TwoStageRule& rule, const noise::Grid& second, const noise::Grid* first,
                           std::span<const double> start)
    : rule_(rule),
      gradient_per_unit_(second.spacing() / static_cast<double>(rule.minibatch)),
      theta_(start.begin(), start.end()),
      fitted_(checked(rule, start).second_stage()),
      residuals_(rule.shape.endogenous),
      sum_(std::make_unique<GradientSum>(second, 1, rule.shape.second_stage())) {
  if (first == nullptr) {
    public_sum_.resize(rule.shape.first_stage());
    return;
  }
  first_gradient_per_unit_ = first->spacing() / static_cast<double>(rule.minibatch);
  first_sum_ = std::make_unique<GradientSum>(*first, rule.shape.endogenous, rule.shape.instruments);
}

TwoStageLoop::~TwoStageLoop() = default;
TwoStageLoop::TwoStageLoop(TwoStageLoop&&) noexcept = default;
TwoStageLoop& TwoStageLoop::operator=(TwoStageLoop&&) noexcept = default;

void TwoStageLoop::set_theta(std::span<const double> theta) {
  NUSTREAM_REQUIRE(theta.size() == theta_.size(), "an iterate has the coefficients of both stages");
  std::ranges::copy(theta, theta_.begin());
}

void TwoStageLoop::add_record(std::span<const double> row, double y) {
  const auto& [instruments, controls, endogenous] = rule_.shape;
  const std::size_t p = rule_.shape.second_stage();
  const std::span<const double> z = row.first(instruments);
  std::ranges::copy(z.first(controls), fitted_.begin());
  for (std::size_t e = 0; e < endogenous; ++e) {
    const double fitted = dot(std::span(theta_).subspan(p + e * instruments, instruments), z);
    fitted_[controls + e] = fitted;
    residuals_[e] = fitted - row[instruments + e];
  }
  const double slope = dot(std::span(theta_).first(p), fitted_) - y;
  if (!first_sum_) {
    add_public(z);
  } else if (first_sum_->add(residuals_, z)) {
    ++clipped_;
  }
  if (sum_->add({&slope, 1}, fitted_)) ++clipped_;
}

void TwoStageLoop::add_public(std::span<const double> z) {
  double* sum = public_sum_.data();
  for (const double residual : residuals_) {
    for (const double instrument : z) *sum++ += residual * instrument;
  }
}

void TwoStageLoop::step_public(std::span<double> first_stage, double step_size) {
  const double keep = 1 - step_size * rule_.first_l2;
  const double gain = step_size / static_cast<double>(rule_.minibatch);
  for (std::size_t j = 0; j < first_stage.size(); ++j) first_stage[j] = first_stage[j] * keep - gain * public_sum_[j];
  std::ranges::fill(public_sum_, 0.0);
}

void TwoStageLoop::run(const TwoStageStretch& stretch, std::span<double> average) {
  const std::size_t steps = stretch.step_sizes.size();
  const std::size_t records = steps * rule_.minibatch;
  const std::size_t width = rule_.shape.row();
  const std::size_t p = rule_.shape.second_stage();
  const std::size_t first = rule_.shape.first_stage();
  NUSTREAM_REQUIRE(stretch.x.size() == records * width, "a stretch holds m rows for each step");
  NUSTREAM_REQUIRE(stretch.y.size() == records, "a stretch holds m targets for each step");
  NUSTREAM_REQUIRE(stretch.first_step_sizes.size() == steps, "both stages take every step");
  NUSTREAM_REQUIRE(
      stretch.noise.size() == steps * p && stretch.first_noise.size() == (first_sum_ ? steps * first : 0),
      "every step of each stage has its own noise");

  const std::span<double> theta(theta_);
  for (std::size_t t = 0; t < steps; ++t) {
    sum_->clear();
    if (first_sum_) first_sum_->clear();
    for (std::size_t i = t * rule_.minibatch; i < (t + 1) * rule_.minibatch; ++i) {
      add_record(stretch.x.subspan(i * width, width), stretch.y[i]);
    }
    NoisyStep{stretch.step_sizes[t], rule_.l2, gradient_per_unit_}.apply(theta.first(p), sum_->units(),
                                                                         stretch.noise.subspan(t * p, p));
    if (first_sum_) {
      NoisyStep{stretch.first_step_sizes[t], rule_.first_l2, first_gradient_per_unit_}.apply(
          theta.subspan(p), first_sum_->units(), stretch.first_noise.subspan(t * first, first));
    } else {
      step_public(theta.subspan(p), stretch.first_step_sizes[t]);
    }
    rule_.projection.apply(theta.first(p));
    if (!average.empty()) take_in(average, theta_, stretch.average_gains[t]);
  }
}

}  // namespace nustream::descent
