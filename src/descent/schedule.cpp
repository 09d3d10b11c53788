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

struct CheckFamily {
  void operator()(const Constant&) const {}
  void operator()(const InverseSqrt& schedule) const { check_knee(schedule.knee); }
  void operator()(const Inverse& schedule) const { check_knee(schedule.knee); }
  void operator()(const WarmUp& schedule) const {
    if (schedule.steps == 0) throw InvalidParameter("warm_up_steps", "0", "a number of steps >= 1");
  }
  void operator()(const Piecewise& schedule) const {
    const auto& pieces = schedule.pieces;
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
};

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
    const auto next = std::ranges::upper_bound(schedule.pieces, step, {}, &Piecewise::Piece::from);
    return std::prev(next)->size.value();
  }
};

}  // namespace

Schedule::Schedule(Family family) : family_(std::move(family)) {
  std::visit(CheckFamily{}, family_);
}

double Schedule::at(StepIndex step) const {
  return std::visit(SizeAt{step.value()}, family_);
}

void Schedule::sizes(StepIndex first, std::span<double> sizes) const {
  std::visit(
      [&](const auto& schedule) {
        for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = SizeAt{first.value() + i}(schedule);
      },
      family_);
}

}  // namespace nustream::descent
