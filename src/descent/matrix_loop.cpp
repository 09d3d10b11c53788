// The loop for losses of several predictors. It takes one step after the other in plain code; the sum, the clip and
// the step itself are those of gradient_sum.h and private_step.h.
#include "nustream/descent/matrix_loop.h"

#include <algorithm>
#include <string>

#include "descent/check_rule.h"
#include "descent/gradient_sum.h"
#include "nustream/base/error.h"
#include "nustream/model/multinomial.h"

namespace nustream::descent {
namespace {

/// d, the number of inputs: the iterate has d entries for each predictor.
std::size_t inputs_of(const StepRule& rule, std::span<const double> start) {
  check_rule(rule, start);
  const std::size_t columns = model::predictors(rule.loss);
  if (rule.loss.kind != model::Loss::Kind::multinomial) {
    throw InvalidParameter("loss", std::string(model::name(rule.loss.kind)), "a loss with a matrix parameter");
  }
  if (start.size() % columns != 0) {
    throw InvalidParameter("start", std::to_string(start.size()) + " entries",
                           "the same number for each of " + std::to_string(columns) + " columns");
  }
  return start.size() / columns;
}

}  // namespace

// Sums are divided by the nominal number of records, which is public. How many of them were usable is not.
MatrixLoop::MatrixLoop(const StepRule& rule, const noise::Grid& grid, std::span<const double> start)
    : rule_(rule),
      gradient_per_unit_(grid.spacing() / static_cast<double>(rule.minibatch)),
      columns_(model::predictors(rule.loss)),
      inputs_(inputs_of(rule, start)),
      theta_(start.begin(), start.end()),
      velocity_(rule.momentum > 0 ? start.size() : 0),
      slopes_(columns_),
      sum_(std::make_unique<GradientSum>(grid, columns_, inputs_)) {}

MatrixLoop::~MatrixLoop() = default;
MatrixLoop::MatrixLoop(MatrixLoop&&) noexcept = default;
MatrixLoop& MatrixLoop::operator=(MatrixLoop&&) noexcept = default;

void MatrixLoop::set_theta(std::span<const double> theta) {
  NUSTREAM_REQUIRE(theta.size() == theta_.size(), "an iterate has an entry for each predictor and input");
  std::ranges::copy(theta, theta_.begin());
}

void MatrixLoop::set_velocity(std::span<const double> velocity) {
  NUSTREAM_REQUIRE(velocity.size() == velocity_.size(), "a velocity has an entry for each of the iterate's");
  std::ranges::copy(velocity, velocity_.begin());
}

void MatrixLoop::run(const Stretch& stretch, std::span<double> average) {
  const std::size_t steps = stretch.step_sizes.size();
  const std::size_t records = steps * rule_.minibatch;
  NUSTREAM_REQUIRE(stretch.x.size() == records * inputs_, "a stretch holds m rows for each step");
  NUSTREAM_REQUIRE(stretch.y.size() == records, "a stretch holds m targets for each step");
  NUSTREAM_REQUIRE(stretch.weights.empty() || stretch.weights.size() == records, "every record has its own weight");
  NUSTREAM_REQUIRE(stretch.noise.size() == steps * theta_.size(), "every step has its own noise");

  const model::Multinomial loss{rule_.loss.classes};
  for (std::size_t t = 0; t < steps; ++t) {
    // A step: gradients are summed at one iterate, and only then is the iterate moved.
    sum_->clear();
    for (std::size_t i = t * rule_.minibatch; i < (t + 1) * rule_.minibatch; ++i) {
      const std::span<const double> x = stretch.x.subspan(i * inputs_, inputs_);
      // slopes_ holds the predictions first; slopes() then replaces them.
      for (std::size_t k = 0; k < columns_; ++k) {
        double prediction = 0;
        for (std::size_t j = 0; j < inputs_; ++j) prediction += theta_[k * inputs_ + j] * x[j];
        slopes_[k] = prediction;
      }
      // Where the target is no label the slopes are NaN, and add() adds zeros.
      loss.slopes(slopes_, stretch.y[i], slopes_);
      // The weight multiplies the gradient before the clip, so a heavy record moves the sum by no more than G either.
      for (double& slope : slopes_) slope *= stretch.weight(i);
      if (sum_->add(slopes_, x)) ++clipped_;
    }
    const std::span<const std::int64_t> noise = stretch.noise.subspan(t * theta_.size(), theta_.size());
    if (rule_.momentum > 0) {
      take_step({rule_.momentum, stretch.step_sizes[t], rule_.l2, gradient_per_unit_}, sum_->units(), noise,
                velocity_, theta_);
    } else {
      take_step(NoisyStep::of(stretch.step_sizes[t], rule_.l2, gradient_per_unit_), sum_->units(), noise, theta_);
    }
    rule_.projection.apply(theta_);
    if (!average.empty()) take_in(average, theta_, stretch.average_gains[t]);
  }
}

}  // namespace nustream::descent
