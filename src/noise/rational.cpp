// Rational correlations: their norms in closed form, and p and a from given q and b. C has the symbol 1 + Σ b_j/(p −
// q_j), whose zeros are the poles p of B; each lies below one q and above the next, so that bisection finds it.
#include "nustream/noise/rational.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "base/shown.h"

namespace nustream::noise {
namespace {

// 1 − x y for |x|, |y| < 1 close to 1. 1 − x and 1 − y are exact there, and nothing cancels.
double one_minus_product(double x, double y) {
  return (1 - x) + x * (1 - y);
}

// Σ_ij w_i w_j (1 − (r_i r_j)^count)/(1 − r_i r_j) = Σ_{t<count} (Σ_i w_i r_i^t)². `reached` gives the numerator 1 −
// (…)^count, which is 1 in the limit. Finite sums and limits use one order of operations, so that no finite sum
// exceeds the limit by a rounding.
template <class Reached>
double squared_norm(const std::vector<double>& weights, const std::vector<double>& rates, Reached reached) {
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double term = weights[i] * weights[j] * reached(i, j) / one_minus_product(rates[i], rates[j]);
      sum += j < i ? 2 * term : term;
    }
  }
  return sum;
}

double squared_norm_limit(const std::vector<double>& weights, const std::vector<double>& rates) {
  return squared_norm(weights, rates, [](std::size_t, std::size_t) { return 1.0; });
}

double squared_norm_of_later_steps(const std::vector<double>& weights, const std::vector<double>& rates,
                                   StepCount steps) {
  if (steps.value() == 0) refuse("steps", steps.value(), "at least 1");
  const auto later_steps = static_cast<double>(steps.value() - 1);
  std::vector<double> log_rate(rates.size());
  for (std::size_t i = 0; i < rates.size(); ++i) log_rate[i] = std::log1p(-(1 - std::abs(rates[i])));
  return squared_norm(weights, rates, [&](std::size_t i, std::size_t j) {
    const double exponent = later_steps * (log_rate[i] + log_rate[j]);
    // (−|r|)^n is −|r|^n for odd n; one of the two rates may be negative, as the lowest p is.
    const bool negative = rates[i] * rates[j] < 0 && steps.value() % 2 == 0;
    return negative ? 1 + std::exp(exponent) : -std::expm1(exponent);
  });
}

// q < 1 makes c decay, and b > 0 makes it fall. The closed forms of the sensitivity need both.
void check_poles(const std::vector<double>& q, const std::vector<double>& b) {
  if (q.size() != b.size()) refuse("poles", b.size(), "as many weights b as decay rates q");
  for (const double rate : q) {
    const bool allowed = rate > 0 && rate < 1;
    if (!allowed) refuse("q", rate, "0 < q < 1");
  }
  for (const double weight : b) {
    const bool allowed = std::isfinite(weight) && weight > 0;
    if (!allowed) refuse("b", weight, "a finite number > 0");
  }
}

// A zero p = q[origin] + offset. It is kept as its distance from the nearest q, so that differences to the q's do not
// cancel.
struct Zero {
  std::size_t origin;
  double offset;
};

double separation(const std::vector<double>& q, const Zero& zero, std::size_t j) {
  return (q[zero.origin] - q[j]) + zero.offset;
}

// The symbol of C at x = 1/p, 1 + Σ b_j/(p − q_j). It falls in p between any two neighbouring q's.
double symbol(const std::vector<double>& q, const std::vector<double>& b, const Zero& zero) {
  double sum = 1;
  for (std::size_t j = 0; j < q.size(); ++j) sum += b[j] / separation(q, zero, j);
  return sum;
}

// The zero between q[origin] and q[origin] + bound, by bisection: there are a handful of poles, and each is found
// once.
Zero bisect(const std::vector<double>& q, const std::vector<double>& b, std::size_t origin, double bound) {
  double near = 0;
  double far = bound;
  const bool above = bound > 0;
  for (;;) {
    const double middle = near + (far - near) / 2;
    if (middle == near || middle == far) return {origin, far};
    // The symbol falls in p, so it is positive to the left of its zero.
    const bool left_of_zero = symbol(q, b, {origin, middle}) > 0;
    (left_of_zero == above ? near : far) = middle;
  }
}

// The zero between q[lower] < q[upper], measured from whichever end is closer to it.
Zero zero_between(const std::vector<double>& q, const std::vector<double>& b, std::size_t lower, std::size_t upper) {
  const double half = (q[upper] - q[lower]) / 2;
  const bool in_upper_half = symbol(q, b, {lower, half}) > 0;
  return in_upper_half ? bisect(q, b, upper, -half) : bisect(q, b, lower, half);
}

}  // namespace

Rational::Rational(std::vector<double> p, std::vector<double> a, std::vector<double> q, std::vector<double> b)
    : p_(std::move(p)), a_(std::move(a)), q_(std::move(q)), b_(std::move(b)) {}

Rational Rational::from_poles(std::vector<double> q, std::vector<double> b) {
  check_poles(q, b);
  const std::size_t poles = q.size();
  // q in falling order, each with its weight, so that each zero has its place between two neighbours.
  std::vector<std::size_t> order(poles);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return q[i] > q[j]; });
  std::vector<double> rates(poles);
  std::vector<double> weights(poles);
  for (std::size_t i = 0; i < poles; ++i) {
    rates[i] = q[order[i]];
    weights[i] = b[order[i]];
    if (i > 0 && rates[i] == rates[i - 1]) refuse("q", rates[i], "distinct decay rates");
  }

  std::vector<double> p(poles);
  std::vector<double> a(poles);
  for (std::size_t i = 0; i < poles; ++i) {
    const bool lowest = i + 1 == poles;
    // Below the lowest q the symbol rises to 1 towards −∞. Its zero is above −1 if the symbol is positive at −1.
    const double to_minus_one = -1 - rates[i];
    if (lowest && !(symbol(rates, weights, {i, to_minus_one}) > 0)) {
      refuse("b", std::accumulate(weights.begin(), weights.end(), 0.0),
             "sum of b/(1 + q) < 1, or the noise would grow without bound");
    }
    const Zero zero = lowest ? bisect(rates, weights, i, to_minus_one) : zero_between(rates, weights, i + 1, i);
    p[i] = rates[zero.origin] + zero.offset;
    double slope = 0;
    for (std::size_t j = 0; j < poles; ++j) {
      const double distance = separation(rates, zero, j);
      slope += weights[j] / (distance * distance);
    }
    // β is the reciprocal of C's symbol, so a_i is the reciprocal of the symbol's slope at p_i.
    a[i] = 1 / slope;
  }
  return {std::move(p), std::move(a), std::move(rates), std::move(weights)};
}

// In all four norms the coefficient of t = 0, which is 1, comes on top of the sum over t ≥ 1.
double Rational::squared_column_norm(StepCount steps) const {
  return 1 + squared_norm_of_later_steps(b_, q_, steps);
}

double Rational::squared_column_norm_limit() const {
  return 1 + squared_norm_limit(b_, q_);
}

double Rational::squared_noise_norm(StepCount steps) const {
  return 1 + squared_norm_of_later_steps(a_, p_, steps);
}

double Rational::squared_noise_norm_limit() const {
  return 1 + squared_norm_limit(a_, p_);
}

}  // namespace nustream::noise
