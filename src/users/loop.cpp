// The descent loop where the unit is the user. In each step, records are gated, their gradients are summed by user at
// one iterate, each sum is clipped and charged, and the step is taken with its noise (gradient_sum.h).
#include "nustream/users/loop.h"

#include <algorithm>
#include <string>

#include "descent/check_rule.h"
#include "descent/gradient_sum.h"
#include "nustream/base/error.h"
#include "nustream/model/multinomial.h"
#include "nustream/model/visit.h"
#include "nustream/users/border.h"

namespace nustream::users {
namespace {

/// The table is asked for users this many records ahead, because a look-up in memory takes longer than a step.
constexpr std::size_t records_ahead = 32;
/// What a user changed in batches that are not committed is asked for when it is known where it lies.
constexpr std::size_t changes_ahead = 16;

/// d, the number of inputs: the iterate has d entries for each predictor.
std::size_t inputs_of(const descent::StepRule& rule, std::span<const double> start) {
  descent::check_rule(rule, start);
  const std::size_t columns = model::predictors(rule.loss);
  if (start.size() % columns != 0) {
    throw InvalidParameter("start", std::to_string(start.size()) + " entries",
                           "the same number for each of " + std::to_string(columns) + " columns");
  }
  return start.size() / columns;
}

}  // namespace

// A gradient is a single block. Its bound is the clip radius of the grid, as for records.
Loop::Loop(const descent::StepRule& rule, const noise::Grid& grid, std::span<const double> start,
           const Limits& limits)
    : rule_(rule),
      gradient_per_unit_(grid.spacing() / static_cast<double>(rule.minibatch)),
      l2_(rule.l2 + model::own_regularisation(rule.loss.kind)),
      columns_(model::predictors(rule.loss)),
      inputs_(inputs_of(rule, start)),
      theta_(start.begin(), start.end()),
      velocity_(rule.momentum > 0 ? start.size() : 0),
      slopes_(columns_),
      gradient_(start.size()),
      units_(start.size()),
      contributions_({{start.size(), grid.clip_radius(), grid.spacing()}}, limits) {}

void Loop::set_theta(std::span<const double> theta) {
  NUSTREAM_REQUIRE(theta.size() == theta_.size(), "an iterate has an entry for each predictor and input");
  std::ranges::copy(theta, theta_.begin());
}

void Loop::set_velocity(std::span<const double> velocity) {
  NUSTREAM_REQUIRE(velocity.size() == velocity_.size(), "a velocity has an entry for each of the iterate's");
  std::ranges::copy(velocity, velocity_.begin());
}

/// Begins to load what the gate will ask of row `row`, and goes on with an earlier one.
void Loop::look_ahead(std::span<const record::RowUser> users, std::size_t row,
                      const Changes& changes) const noexcept {
  const auto hash_of = [&](std::size_t i) { return UserHash{users[i].high, users[i].low}; };
  if (row < users.size()) changes.prefetch(hash_of(row));
  constexpr std::size_t later = records_ahead - changes_ahead;
  if (row >= later && row - later < users.size()) changes.prefetch_change(hash_of(row - later));
}

/// Adds one row. The gate comes before the row is read: whether a record counts must not depend on what it holds.
void Loop::add(const descent::Stretch& stretch, std::size_t row, const record::RowUser& of, const Changes& changes) {
  const UserHash user{of.high, of.low};
  const std::span<const double> x = stretch.x.subspan(row * inputs_, inputs_);
  const double y = stretch.y[row];
  if (of.is_nobody() || !contributions_.takes_part(user, changes)) return;
  for (std::size_t k = 0; k < columns_; ++k) {
    double prediction = 0;
    for (std::size_t j = 0; j < inputs_; ++j) prediction += theta_[k * inputs_ + j] * x[j];
    slopes_[k] = prediction;
  }
  if (rule_.loss.kind == model::Loss::Kind::multinomial) {
    model::Multinomial{rule_.loss.classes}.slopes(slopes_, y, slopes_);
  } else {
    slopes_[0] = model::visit(rule_.loss, [&](const auto& formula) { return formula.slope(slopes_[0], y); });
  }
  for (std::size_t k = 0; k < columns_; ++k) {
    // The weight belongs to the gradient, and the clip comes later, on the sum of all of the user's gradients.
    slopes_[k] *= stretch.weight(row);
    for (std::size_t j = 0; j < inputs_; ++j) gradient_[k * inputs_ + j] = slopes_[k] * x[j];
  }
  static_cast<void>(contributions_.add(user, of.number, gradient_));
}

void Loop::run(const descent::Stretch& stretch, std::span<const record::RowUser> users, Changes& changes,
               StepIndex first, std::span<double> average, std::span<const double> times, WindowClock* clock) {
  const std::size_t steps = stretch.step_sizes.size();
  const std::size_t records = steps * rule_.minibatch;
  NUSTREAM_REQUIRE(stretch.x.size() == records * inputs_, "a stretch holds m rows for each step");
  NUSTREAM_REQUIRE(stretch.y.size() == records, "a stretch holds m targets for each step");
  NUSTREAM_REQUIRE(stretch.weights.empty() || stretch.weights.size() == records, "every record has its own weight");
  NUSTREAM_REQUIRE(users.size() == records, "every row says whose it is");
  NUSTREAM_REQUIRE(stretch.noise.size() == steps * theta_.size(), "every step has its own noise");
  NUSTREAM_REQUIRE(clock == nullptr || times.size() == records, "where limits hold within windows, rows have times");
  for (std::size_t i = 0; i < records_ahead; ++i) look_ahead(users, i, changes);
  for (std::size_t t = 0; t < steps; ++t) {
    // With windows, the step may hold records of the next one. They take no part, but they are in its nominal size.
    std::size_t within = rule_.minibatch;
    if (clock != nullptr) within = take_times(times.subspan(t * within, within), true, *clock, changes);
    contributions_.begin(StepIndex{first.value() + t});
    std::ranges::fill(units_, 0);
    for (std::size_t i = t * rule_.minibatch; i < t * rule_.minibatch + within; ++i) {
      look_ahead(users, i + records_ahead, changes);
      add(stretch, i, users[i], changes);
    }
    // The step is taken with its noise even where no record counted, so the number of steps stays public.
    static_cast<void>(contributions_.settle(changes, units_));
    const std::span<const std::int64_t> noise = stretch.noise.subspan(t * theta_.size(), theta_.size());
    if (rule_.momentum > 0) {
      descent::take_step({rule_.momentum, stretch.step_sizes[t], l2_, gradient_per_unit_}, units_, noise, velocity_,
                         theta_);
    } else {
      descent::take_step(descent::NoisyStep::of(stretch.step_sizes[t], l2_, gradient_per_unit_), units_, noise,
                         theta_);
    }
    rule_.projection.apply(theta_);
    if (!average.empty()) descent::take_in(average, theta_, stretch.average_gains[t]);
  }
}

}  // namespace nustream::users
