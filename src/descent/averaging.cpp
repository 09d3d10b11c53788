// Averages of iterates, which are post-processing: an iterate is a function of noisy gradients. A loop asks weigh()
// for the gains of its steps and updates the value itself; update() does both for a caller who has one iterate.
#include "nustream/descent/averaging.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "nustream/base/error.h"

namespace nustream::descent {
namespace {

double decay_of(const Averaging& settings) {
  return settings.kind == Averaging::Kind::exponential ? settings.decay : 1.0;
}

// The weight of a tail counts iterates. A double holds such counts exactly up to here.
constexpr double count_max = 9007199254740992;  // 2^53

// Whether an average under `settings` can have this weight after `steps` steps, whether or not it went on from
// another one. A state that claims an impossible weight is damaged or belongs to other settings.
bool reachable(const Averaging& settings, double weight, std::uint64_t steps) {
  if (settings.kind == Averaging::Kind::last) return weight == 0 && !std::signbit(weight);
  const double taken = steps > settings.from ? static_cast<double>(steps - settings.from) : 0;
  if (taken == 0 && weight == 0) return !std::signbit(weight);
  if (settings.kind == Averaging::Kind::tail) {
    return weight >= std::max(taken, 1.0) && weight <= count_max && weight == std::floor(weight);
  }
  // The weight tends to 1/(1 − decay); the recursion may end a rounding error above that.
  return weight > 0 && (taken == 0 || weight >= 1) && weight <= (1 + 1e-9) / (1 - settings.decay);
}

}  // namespace

void check(const Averaging& averaging) {
  if (averaging.kind == Averaging::Kind::exponential &&
      (std::isnan(averaging.decay) || averaging.decay <= 0 || averaging.decay >= 1)) {
    throw InvalidParameter("decay", std::to_string(averaging.decay), "0 < decay < 1");
  }
}

Average::Average(const Averaging& settings, std::size_t dimension) : settings_(settings), value_(dimension) {
  check(settings);
}

void Average::update(std::span<const double> theta, StepCount steps) {
  const double gain = weigh(steps);
  // The iterate comes before the average begins, or no average is kept.
  if (gain == 0) return;
  for (std::size_t j = 0; j < value_.size(); ++j) value_[j] += gain * (theta[j] - value_[j]);
}

std::span<const double> Average::value() const noexcept {
  return weight_ > 0 ? std::span<const double>(value_) : std::span<const double>();
}

double Average::weigh(StepCount steps) noexcept {
  if (settings_.kind == Averaging::Kind::last || steps.value() <= settings_.from) return 0;
  // W ← decay·W + 1, and the iterate enters with the gain 1/W.
  weight_ = decay_of(settings_) * weight_ + 1;
  return 1 / weight_;
}

// Gains follow from step counts alone, so those of a stretch are computed ahead.
void Average::weigh(StepCount before, std::span<double> gains) noexcept {
  if (settings_.kind == Averaging::Kind::last) {
    std::ranges::fill(gains, 0.0);
    return;
  }
  for (std::size_t i = 0; i < gains.size(); ++i) gains[i] = weigh(StepCount{before.value() + i + 1});
}

void Average::go_on_from(double weight, std::span<const double> value) {
  const bool is_finite = std::ranges::all_of(value, [](double entry) { return std::isfinite(entry); });
  if (settings_.kind == Averaging::Kind::last || !(weight > 0) || std::isinf(weight)) {
    throw InvalidParameter("average_weight", std::to_string(weight), "the weight of an average, where one is kept");
  }
  if (value.size() != value_.size() || !is_finite) {
    throw InvalidParameter("average", std::to_string(value.size()) + " entries", "as many numbers as coefficients");
  }
  const bool is_tail = settings_.kind == Averaging::Kind::tail;
  // A tail counts whole iterates. An exponential average settles at the weight 1/(1 − decay), so the other run
  // counts for no more than that.
  weight_ = is_tail ? std::clamp(std::floor(weight), 1.0, count_max) : std::min(weight, 1 / (1 - settings_.decay));
  std::ranges::copy(value, value_.begin());
}

void Average::restore(double weight, std::span<const double> value, StepCount steps) {
  // The weight says whether there is a value at all, so it is judged first.
  if (!reachable(settings_, weight, steps.value())) {
    throw InvalidParameter("average_weight", std::to_string(weight), "the weight after as many steps");
  }
  if (value.size() != (weight > 0 ? value_.size() : 0)) {
    throw InvalidParameter("average", std::to_string(value.size()) + " entries", "as many as coefficients");
  }
  weight_ = weight;
  std::ranges::copy(value, value_.begin());
}

}  // namespace nustream::descent
