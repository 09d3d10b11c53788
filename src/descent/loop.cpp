// Prepares the job of a stretch of steps and hands it to the kernel that suits the processor. The steps themselves,
// CDP+ Algorithm 1, are in kernel_body.h.
#include "nustream/descent/loop.h"

#include <algorithm>
#include <string>

#include "descent/check_rule.h"
#include "descent/kernel.h"
#include "nustream/base/error.h"
#include "nustream/descent/clip.h"

namespace nustream::descent {
namespace {

/// The bounds of one side of a box, one for each coefficient. A box with a single bound has it for every coefficient.
Packed<double> spread(const std::vector<double>& side, std::size_t dimension) {
  Packed<double> entries(packed_size(dimension));
  for (std::size_t j = 0; j < dimension; ++j) entries[j] = side[side.size() == 1 ? 0 : j];
  return entries;
}

}  // namespace

Loop::Loop(const StepRule& rule, const noise::Grid& grid, std::span<const double> start)
    : rule_(rule),
      grid_(grid),
      kernel_(kernel::preferred().run),
      dimension_(start.size()),
      theta_(packed_size(start.size())),
      velocity_(rule.momentum > 0 ? packed_size(start.size()) : 0),
      sum_(packed_size(start.size())),
      units_(start.size()) {
  check_rule(rule, start);
  // Losses of several predictors have a loop of their own, matrix_loop.h.
  if (model::predictors(rule.loss) != 1) {
    throw InvalidParameter("loss", std::string(model::name(rule.loss.kind)), "a loss of one predictor");
  }
  set_theta(start);
  // A box is spread over whole packs here, so that the kernel reads its bounds like any other vector.
  if (const auto* const box = std::get_if<Box>(&rule_.projection.family())) {
    lower_ = spread(box->lower, dimension_);
    upper_ = spread(box->upper, dimension_);
  }
}

void Loop::set_theta(std::span<const double> theta) {
  NUSTREAM_REQUIRE(theta.size() == dimension_, "an iterate has d entries");
  std::ranges::copy(theta, theta_.begin());
}

std::span<const double> Loop::velocity() const noexcept {
  return {velocity_.data(), velocity_.empty() ? 0 : dimension_};
}

void Loop::set_velocity(std::span<const double> velocity) {
  NUSTREAM_REQUIRE(velocity.size() == this->velocity().size(), "a velocity has d entries where there is momentum");
  std::ranges::copy(velocity, velocity_.begin());
}

void Loop::run(const Stretch& stretch, std::span<double> average) {
  const std::size_t steps = stretch.step_sizes.size();
  const std::size_t records = steps * rule_.minibatch;
  // A wrong size would pair a step with the noise of another one. These contracts stay in release builds.
  NUSTREAM_REQUIRE(stretch.x.size() == records * dimension_, "a stretch holds m rows for each step");
  NUSTREAM_REQUIRE(stretch.y.size() == records, "a stretch holds m targets for each step");
  NUSTREAM_REQUIRE(stretch.weights.empty() || stretch.weights.size() == records, "every record has its own weight");
  NUSTREAM_REQUIRE(stretch.noise.size() == steps * dimension_, "every step has its own noise");
  NUSTREAM_REQUIRE(average.empty() || average.size() == dimension_, "an average has d entries");
  NUSTREAM_REQUIRE(average.empty() || stretch.average_gains.size() == steps, "every step has its own gain");

  // The kernel projects by the numbers of a ball or a box, and calls the projection itself where an iterate is too
  // large or too small for that.
  const auto* const ball = std::get_if<Ball>(&rule_.projection.family());
  kernel::Job job{.loss = rule_.loss,
                  .dimension = dimension_,
                  .steps = steps,
                  .minibatch = rule_.minibatch,
                  .x = stretch.x.data(),
                  .y = stretch.y.data(),
                  .noise = stretch.noise.data(),
                  .step_sizes = stretch.step_sizes.data(),
                  .average_gains = stretch.average_gains.data(),
                  .grid = &grid_,
                  // This is exact, since the spacing of a grid is a power of two.
                  .units_per_gradient = 1 / grid_.spacing(),
                  .radius = clip_radius_in_units(grid_, dimension_),
                  // m is the nominal number of records. How many of them were usable is not public, so no sum is
                  // divided by that.
                  .gradient_per_unit = grid_.spacing() / static_cast<double>(rule_.minibatch),
                  // The mean's gradient is θ − x. Its θ is taken as a regulariser outside the clip, so that only x is
                  // clipped.
                  .l2 = rule_.l2 + model::own_regularisation(rule_.loss.kind),
                  .bounds = {.ball_radius = ball == nullptr ? 0.0 : ball->radius,
                             .lower = lower_.empty() ? nullptr : lower_.data(),
                             .upper = upper_.empty() ? nullptr : upper_.data(),
                             .projection = &rule_.projection},
                  .theta = theta_.data(),
                  .sum = sum_.data(),
                  .units = units_.data(),
                  .average = average.empty() ? nullptr : average.data(),
                  .clipped = clipped_,
                  .weights = stretch.weights.empty() ? nullptr : stretch.weights.data(),
                  .velocity = velocity_.empty() ? nullptr : velocity_.data(),
                  .momentum = rule_.momentum};
  kernel_(job);
  clipped_ = job.clipped;
}

}  // namespace nustream::descent
