// Two-stage descent (IV paper, Algorithm 1; with public rows its Algorithm 3). A kernel sums the clipped gradients of
// both stages (two_stage_body.h). This file prepares its job, steps through the stretch and moves both iterates.
#include "nustream/descent/two_stage_loop.h"

#include <algorithm>
#include <string>

#include "descent/check_rule.h"
#include "descent/gradient_sum.h"
#include "descent/kernel.h"
#include "nustream/base/error.h"

namespace nustream::descent {
namespace {

/// Fewer excluded instruments than regressors would leave the second stage without a unique solution.
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

}  // namespace

// Each stage has its own clip norm, grid and noise, and what the two cost adds up. Both sums are divided by the
// nominal number of records.
TwoStageLoop::TwoStageLoop(const TwoStageRule& rule, const noise::Grid& second, const noise::Grid* first,
                           std::span<const double> start)
    : rule_(rule),
      gradient_per_unit_(second.spacing() / static_cast<double>(rule.minibatch)),
      theta_(start.begin(), start.end()),
      fitted_(kernel::padded(checked(rule, start).second_stage())),
      residuals_(kernel::padded(rule.shape.endogenous)),
      sum_(std::make_unique<GradientSum>(second, 1, rule.shape.second_stage())) {
  // The kernel adds whole packs, so these sums are padded. GradientSum::take() leaves the padding out.
  units_.resize(kernel::padded(rule.shape.second_stage()));
  // Without a grid for the first stage its rows are public, and its gradients are summed as doubles.
  if (first == nullptr) {
    public_sum_.resize(kernel::padded(rule.shape.instruments) * rule.shape.endogenous);
    return;
  }
  first_units_.resize(kernel::padded(rule.shape.instruments) * rule.shape.endogenous);
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

void TwoStageLoop::add_records(std::span<const double> rows, std::span<const double> y, const double* weights) {
  // Where the kernel puts the clipped gradients of a stage. A stage without a grid is public and has no such place.
  const auto target = [](GradientSum* sum, std::vector<std::int64_t>& units) {
    if (sum == nullptr) return kernel::OuterTarget{nullptr, nullptr, 0, 0};
    return kernel::OuterTarget{sum, units.data(), sum->units_per_gradient(), sum->radius()};
  };
  const TwoStageShape& shape = rule_.shape;
  kernel::TwoStageJob job{shape.instruments,
                          shape.controls,
                          shape.endogenous,
                          y.size(),
                          rows.data(),
                          y.data(),
                          theta_.data(),
                          theta_.data() + shape.second_stage(),
                          target(sum_.get(), units_),
                          target(first_sum_.get(), first_units_),
                          first_sum_ ? nullptr : public_sum_.data(),
                          fitted_.data(),
                          residuals_.data(),
                          clipped_,
                          weights};
  // The processor is asked once for the whole process.
  static const kernel::Variant& variant = kernel::preferred();
  variant.run_two_stage(job);
  clipped_ = job.clipped;
  // What the kernel summed moves into the sums of the step, and the kernel's memory is zero for the next call.
  sum_->take(units_, kernel::padded(shape.second_stage()));
  if (first_sum_) first_sum_->take(first_units_, kernel::padded(shape.instruments));
}

void TwoStageLoop::step_public(std::span<double> first_stage, double step_size) {
  // Public rows are summed as numbers: there is no clip and no grid, since this stage costs no privacy.
  const double keep = 1 - step_size * rule_.first_l2;
  const double gain = step_size / static_cast<double>(rule_.minibatch);
  const std::size_t q = rule_.shape.instruments;
  for (std::size_t j = 0; j < first_stage.size(); ++j) {
    // public_sum_ is stored in columns of whole packs, and Θ in columns of q entries.
    first_stage[j] = first_stage[j] * keep - gain * public_sum_[j / q * kernel::padded(q) + j % q];
  }
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
  NUSTREAM_REQUIRE(stretch.weights.empty() || stretch.weights.size() == records, "every record has its own weight");
  NUSTREAM_REQUIRE(stretch.first_step_sizes.size() == steps, "both stages take every step");
  NUSTREAM_REQUIRE(
      stretch.noise.size() == steps * p && stretch.first_noise.size() == (first_sum_ ? steps * first : 0),
      "every step of each stage has its own noise");

  const std::span<double> theta(theta_);
  // Both stages' gradients are taken at the iterate of step t: add_records() reads β_t and Θ_t, and only then is
  // either of them moved.
  for (std::size_t t = 0; t < steps; ++t) {
    sum_->clear();
    if (first_sum_) first_sum_->clear();
    const std::size_t m = rule_.minibatch;
    add_records(stretch.x.subspan(t * m * width, m * width), stretch.y.subspan(t * m, m),
                stretch.weights.empty() ? nullptr : stretch.weights.data() + t * m);
    take_step(NoisyStep::of(stretch.step_sizes[t], rule_.l2, gradient_per_unit_), sum_->units(),
              stretch.noise.subspan(t * p, p), theta.first(p));
    if (first_sum_) {
      take_step(NoisyStep::of(stretch.first_step_sizes[t], rule_.first_l2, first_gradient_per_unit_),
                first_sum_->units(), stretch.first_noise.subspan(t * first, first), theta.subspan(p));
    } else {
      step_public(theta.subspan(p), stretch.first_step_sizes[t]);
    }
    rule_.projection.apply(theta.first(p));
    if (!average.empty()) take_in(average, theta_, stretch.average_gains[t]);
  }
}

}  // namespace nustream::descent
