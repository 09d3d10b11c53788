// Checks each family of step sizes and computes η_t. A schedule depends on the step number and on public settings
// alone: a step size that followed the data would cost privacy.
#include "nustream/descent/schedule.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "nustream/base/error.h"

namespace nustream::descent {
namespace {

void check_knee(double knee) {
  if (!std::isfinite(knee) || knee <= 0) {
    throw InvalidParameter("knee", std::to_string(knee), "a finite number of steps > 0");
  }
}

/// Everything is checked when a schedule is made, so that at() cannot fail.
struct CheckFamily {
  void operator()(const Constant&) const {}
  void operator()(const InverseSqrt& schedule) const { check_knee(schedule.knee); }
  void operator()(const Inverse& schedule) const { check_knee(schedule.knee); }
  void operator()(const WarmUp& schedule) const {
    if (schedule.steps == 0) throw InvalidParameter("warm_up_steps", "0", "a number of steps >= 1");
  }
  void operator()(const Piecewise& schedule) const {
    const auto& pieces = schedule.pieces;
    // Every step has a piece, since the first one begins at step 0. SizeAt relies on it.
    if (pieces.empty() || pieces.front().from != 0) {
      throw InvalidParameter("pieces", pieces.empty() ? "none" : "a first piece from a later step",
                             "a first piece from step 0");
    }
    const auto no_later = [](const auto& left, const auto& right) { return right.from <= left.from; };
    const auto repeated = std::ranges::adjacent_find(pieces, no_later);
    if (repeated != pieces.end()) {
      throw InvalidParameter("pieces", "from = " + std::to_string(std::next(repeated)->from), "increasing steps");
    }
  }
  void operator()(const Cooldown& schedule) const {
    // over() would know the horizon of the outer cooldown alone.
    if (schedule.of == nullptr || schedule.of->cools_down()) {
      throw InvalidParameter("cooldown", "of a cooldown", "one of another schedule");
    }
    if (!(schedule.share > 0 && schedule.share <= 1)) {
      throw InvalidParameter("cooldown", std::to_string(schedule.share), "a share with 0 < share <= 1");
    }
    if (!(schedule.floor >= 0 && schedule.floor < 1)) {
      throw InvalidParameter("cooldown_to", std::to_string(schedule.floor), "a number with 0 <= number < 1");
    }
    if (schedule.horizon.value() == 0) throw InvalidParameter("horizon", "0", "at least 1 step");
  }
};

/// w, the number of the last steps over which the schedule cools down.
double cooling_steps(const Cooldown& schedule) {
  // A short cooldown of a short run may round to no step at all, and cooled() divides by this.
  return std::max(1.0, std::round(schedule.share * static_cast<double>(schedule.horizon.value())));
}

/// What a cooldown multiplies η_t by. With T = 100, a share of ¼ and a floor of 0, for example, it is 1 up to step 75
/// and 1/25 at step 99.
double cooled(const Cooldown& schedule, std::uint64_t step) {
  if (step >= schedule.horizon.value()) return schedule.floor;
  // What is left of the cooldown: more than 1 before it begins, and 1/w at the last step.
  const double left = static_cast<double>(schedule.horizon.value() - step) / cooling_steps(schedule);
  return left >= 1 ? 1 : schedule.floor + (1 - schedule.floor) * left;
}

/// η_t of each family at one step, t = `step`.
struct SizeAt {
  std::uint64_t step;

  double operator()(const Constant& schedule) const { return schedule.size.value(); }
  double operator()(const InverseSqrt& schedule) const {
    return schedule.size.value() / std::sqrt(1.0 + static_cast<double>(step) / schedule.knee);
  }
  double operator()(const Inverse& schedule) const {
    return schedule.size.value() / (1.0 + static_cast<double>(step) / schedule.knee);
  }
  double operator()(const WarmUp& schedule) const {
    if (step >= schedule.steps) return schedule.size.value();
    return schedule.size.value() * (static_cast<double>(step + 1) / static_cast<double>(schedule.steps));
  }
  double operator()(const Piecewise& schedule) const {
    // The first piece that begins later; the one before it holds the step.
    const auto next = std::ranges::upper_bound(schedule.pieces, step, {}, &Piecewise::Piece::from);
    return std::prev(next)->size.value();
  }
  double operator()(const Cooldown& schedule) const {
    return schedule.of->at(StepIndex{step}) * cooled(schedule, step);
  }
};

}  // namespace

Schedule::Schedule(Family family) : family_(std::move(family)) {
  std::visit(CheckFamily{}, family_);
}

// Only a cooldown knows how many steps there are.
Schedule Schedule::over(StepCount horizon) const {
  const auto* const cooldown = std::get_if<Cooldown>(&family_);
  return cooldown == nullptr ? *this : Schedule{Cooldown{cooldown->of, cooldown->share, cooldown->floor, horizon}};
}

double Schedule::at(StepIndex step) const {
  return std::visit(SizeAt{step.value()}, family_);
}

void Schedule::sizes(StepIndex first, std::span<double> sizes) const {
  // The family is looked up once, outside the loop over the steps.
  std::visit(
      [&](const auto& schedule) {
        for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = SizeAt{first.value() + i}(schedule);
      },
      family_);
}

}  // namespace nustream::descent
