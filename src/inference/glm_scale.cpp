// Solves f(c) = 1 for the scale of a generalised linear model. A search in steps of a tenth finds a bracket, since f
// may have several roots or none, and Newton's method with bisection finds the root inside. Between two steps a peak
// may reach 1 and fall again, so peaks are searched, too.
#include "nustream/inference/glm_scale.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "nustream/base/error.h"

namespace nustream::inference {
namespace {

constexpr double search_step = 1.1;
// Where c times the smallest prediction that is not 0 exceeds this, every term of a logistic f has vanished: e^-750
// is 0 in a double.
constexpr double vanished = 750;
// The search ends here where all predictions are (nearly) 0, because then the terms never vanish.
constexpr double end_max = 1e30;

struct Value {
  double f;
  double slope;
};

// f and f' over weighted predictions.
class Equation {
 public:
  Equation(GlmFamily family, std::span<const double> predictions, std::span<const double> weights)
      : family_(family), predictions_(predictions), weights_(weights) {
    for (std::size_t j = 0; j < predictions.size(); ++j) {
      const double weight = weights.empty() ? 1 : weights[j];
      total_ += weight;
      const double size = std::fabs(predictions[j]);
      if (weight > 0 && size > 0) smallest_ = std::min(smallest_, size);
    }
  }

  /// f(c) = (c/m) Σ Φ''(c ỹ), f'(c) = (1/m) Σ (Φ''(c ỹ) + c ỹ Φ'''(c ỹ)).
  [[nodiscard]] Value at(double c) const {
    double sum = 0;
    double slope = 0;
    for (std::size_t j = 0; j < predictions_.size(); ++j) {
      const double weight = weights_.empty() ? 1 : weights_[j];
      // 0 times an infinite term would be no number.
      if (weight == 0) continue;
      const double s = c * predictions_[j];
      const double second = cumulant_second_derivative(family_, s);
      const double third = cumulant_third_derivative(family_, s);
      sum += weight * second;
      slope += weight * (third == 0 ? second : second + s * third);  // avoids 0·∞ far out
    }
    return {c / total_ * sum, slope / total_};
  }
  /// The c at which every term with a prediction other than 0 has vanished, for families that fall off on both sides.
  [[nodiscard]] double far() const noexcept { return std::min(vanished / smallest_, end_max); }

 private:
  GlmFamily family_;
  std::span<const double> predictions_;
  std::span<const double> weights_;
  double total_ = 0;
  double smallest_ = std::numeric_limits<double>::infinity();
};

struct Bracket {
  double below;  ///< f < 1 there
  double above;  ///< f ≥ 1 there
};

/// Newton's method from the lower end. Bisection keeps it inside the bracket.
/// Where the slope is 0 or points away, the Newton step leaves the bracket, and its middle is taken instead.
GlmScale solve(const Equation& equation, Bracket bracket) {
  GlmScale result{true, bracket.below, 0, 0};
  for (int step = 1; step <= 200; ++step) {
    const Value value = equation.at(result.c);
    result.reached = value.f;
    result.newton_steps = step;
    (value.f < 1 ? bracket.below : bracket.above) = result.c;
    double next = result.c - (value.f - 1) / value.slope;
    const double low = std::min(bracket.below, bracket.above);
    const double high = std::max(bracket.below, bracket.above);
    const bool inside = next > low && next < high;
    if (!inside) next = low + (high - low) / 2;
    const bool settled = std::fabs(next - result.c) <= 4 * std::numeric_limits<double>::epsilon() * next;
    result.c = next;
    if (settled) break;
  }
  result.reached = equation.at(result.c).f;
  return result;
}

/// The place of the largest value in (low, high), by golden-section search. It stops at the first f ≥ 1.
double peak(const Equation& equation, double low, double high) {
  constexpr double golden = 0.618033988749894848;
  double left = high - golden * (high - low);
  double right = low + golden * (high - low);
  double f_left = equation.at(left).f;
  double f_right = equation.at(right).f;
  for (int step = 0; step < 60 && std::max(f_left, f_right) < 1; ++step) {
    if (f_left > f_right) {
      high = right;
      right = left;
      f_right = f_left;
      left = high - golden * (high - low);
      f_left = equation.at(left).f;
    } else {
      low = left;
      left = right;
      f_left = f_right;
      right = low + golden * (high - low);
      f_right = equation.at(right).f;
    }
  }
  return f_left > f_right ? left : right;
}

/// Searches from `start`, where f < 1, upward until f reaches 1, or until `end`, after which f cannot reach it any
/// more.
GlmScale search_upward(const Equation& equation, double start, double end) {
  GlmScale best{false, start, equation.at(start).f, 0};
  double before = start;
  double c = start;
  double f = best.reached;
  bool rising = true;
  while (c < end) {
    const double next = c * search_step;
    const double f_next = equation.at(next).f;
    if (f_next >= 1) return solve(equation, {c, next});
    // f rose up to here and now falls, so a peak lies between the step before and the next one.
    if (rising && f_next < f) {
      const double top = peak(equation, before, next);
      const double f_top = equation.at(top).f;
      if (f_top >= 1) return solve(equation, {before, top});
      if (f_top > best.reached) best = {false, top, f_top, 0};
    }
    rising = f_next >= f;
    if (f_next > best.reached) best = {false, next, f_next, 0};
    before = c;
    c = next;
    f = f_next;
  }
  return best;
}

/// Searches from `start`, where f > 1, downward. It ends because f(0) = 0.
GlmScale search_downward(const Equation& equation, double start) {
  double c = start;
  while (!(equation.at(c / search_step).f < 1)) c /= search_step;
  return solve(equation, {c / search_step, c});
}

void check(std::span<const double> predictions, std::span<const double> weights) {
  if (predictions.empty()) throw InvalidParameter("public_rows", "0", "at least one public row");
  for (const double prediction : predictions) {
    if (!std::isfinite(prediction)) throw InvalidParameter("prediction", "not finite", "finite numbers");
  }
  if (weights.empty()) return;
  double total = 0;
  for (const double weight : weights) {
    if (!(weight >= 0)) throw InvalidParameter("weight", std::to_string(weight), "a number >= 0");
    total += weight;
  }
  const bool counts = total > 0 && std::isfinite(total);
  if (weights.size() != predictions.size() || !counts) {
    throw InvalidParameter("weights", std::to_string(weights.size()), "one for each prediction, not all of them 0");
  }
}

}  // namespace

std::string_view name(GlmFamily family) noexcept {
  switch (family) {
    case GlmFamily::linear:
      return "linear";
    case GlmFamily::logistic:
      return "logistic";
    case GlmFamily::poisson:
      return "poisson";
  }
  __builtin_unreachable();
}

double cumulant_second_derivative(GlmFamily family, double s) noexcept {
  if (family == GlmFamily::linear) return 1;
  if (family == GlmFamily::poisson) return std::exp(s);
  const double tail = std::exp(-std::fabs(s));
  return tail / ((1 + tail) * (1 + tail));
}

double cumulant_third_derivative(GlmFamily family, double s) noexcept {
  if (family == GlmFamily::linear) return 0;
  if (family == GlmFamily::poisson) return std::exp(s);
  const double tail = std::exp(-std::fabs(s));
  // Φ'' (1 − 2Φ'), which is odd in s; written with e^{−|s|}, so that it does not overflow.
  const double size = tail * (1 - tail) / ((1 + tail) * (1 + tail) * (1 + tail));
  return s > 0 ? -size : size;
}

GlmScale glm_scale(GlmFamily family, std::span<const double> predictions, std::span<const double> weights) {
  check(predictions, weights);
  if (family == GlmFamily::linear) return {true, 1, 1, 0};
  const Equation equation(family, predictions, weights);
  // Where all predictions are 0, f(c) = cΦ''(0), whose root this is: 4 for logistic, 1 for Poisson.
  const double start = 1 / cumulant_second_derivative(family, 0);
  const double f = equation.at(start).f;
  // All predictions are 0, and c is then 1/Φ''(0) exactly.
  if (f == 1) return {true, start, f, 0};
  return f < 1 ? search_upward(equation, start, equation.far()) : search_downward(equation, start);
}

}  // namespace nustream::inference
