// The encoder of exact ν-FTRL (CDP+ eq. (7)): its norm for one participation, and its column as numbers for several.
#include "encoders.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>

#include "nustream/base/error.h"
#include "nustream/noise/elliptic.h"
#include "rounding.h"

namespace nustream::privacy {
namespace {

/// How many terms are summed one by one. The integral that stands for the terms beyond is too large by less than
/// 2e-14.
constexpr std::uint64_t summed_terms = std::uint64_t{1} << 20;

/// The relative error of a sum of `terms` terms. It covers six roundings a term in long double, where the terms fall
/// like 1/(πt), and the few roundings of the closed forms.
double slack(std::uint64_t terms) {
  constexpr double unit = static_cast<double>(std::numeric_limits<long double>::epsilon());
  return 6 * unit * static_cast<double>(terms) / std::numbers::pi + 16 * unit_roundoff;
}

/// The exponential integral E₁(x) = ∫_x^∞ e^{−s}/s ds.
double exponential_integral(double x) {
  return x > 700 ? 0.0 : -std::expint(-x);  // E₁ is below 1e-300 beyond 700
}

/// Upper bound of Σ_{first≤t<last} c_t². With u = t + ¼, C(2t, t)²/16^t < 1/(πu), because the quotient of the two
/// sides rises to 1: from t to t + 1 it grows by the factor (2t+1)²(4t+5)/((2t+2)²(4t+1)) = 1 + 1/((2t+2)²(4t+1)).
/// The bound f(t) = (1−ν)^{2t}/(πu) is convex, so each f(t) is at most its integral over [t−½, t+½].
double tail_bound(double nu, std::uint64_t first, std::uint64_t last) {
  const double from = static_cast<double>(first) - 0.25;
  const double to = static_cast<double>(last) - 0.25;
  if (nu == 0) return std::log(to / from) / std::numbers::pi;
  const double rate = -2 * std::log1p(-nu);
  const double integral = exponential_integral(rate * from) - exponential_integral(rate * to);
  return std::exp(rate / 4) * std::max(integral, 0.0) / std::numbers::pi;
}

/// The coefficients c_0, c_1, …, one after the other, in long double.
class Coefficients {
 public:
  explicit Coefficients(double nu) : kept_(1.0L - static_cast<long double>(nu)) {}

  [[nodiscard]] long double current() const { return coefficient_; }
  void advance() {
    const long double twice = 2 * ++index_;
    coefficient_ *= (twice - 1) / twice * kept_;
  }

 private:
  long double kept_;
  long double index_ = 0;
  long double coefficient_ = 1;
};

class NuColumnNorm final : public EncoderNorm {
 public:
  explicit NuColumnNorm(double nu) : nu_(nu), coefficients_(nu) {}

  double squared(std::uint64_t steps) override {
    advance(std::min(steps, summed_terms));
    double sum = static_cast<double>(sum_);
    if (steps > summed_terms) sum += tail_bound(nu_, summed_terms, steps);
    return rounded_up(sum, slack(terms_));
  }

  double squared_limit() override {
    if (nu_ == 0) throw Unsupported("the sensitivity at nu = 0 grows without limit: give a horizon or nu > 0");
    // The limit gets the slack of the longest sum, so that no finite number of steps costs more than the limit.
    return rounded_up(1 / noise::arithmetic_geometric_mean(1, std::sqrt(nu_ * (2 - nu_))), slack(summed_terms));
  }

 private:
  /// Brings sum_ to `terms` terms. Fewer terms than before begin anew, so that the sum depends on `terms` alone.
  void advance(std::uint64_t terms) {
    if (terms < terms_) *this = NuColumnNorm(nu_);
    for (; terms_ < terms; ++terms_) {
      sum_ += coefficients_.current() * coefficients_.current();
      coefficients_.advance();
    }
  }

  double nu_;
  std::uint64_t terms_ = 0;
  Coefficients coefficients_;
  long double sum_ = 0;
};

}  // namespace

std::unique_ptr<EncoderNorm> nu_column_norm(Damping nu) {
  return std::make_unique<NuColumnNorm>(nu.value());
}

EncoderColumn nu_column(Damping nu, std::uint64_t count) {
  Coefficients coefficients(nu.value());
  EncoderColumn column;
  column.c.reserve(static_cast<std::size_t>(count));
  for (std::uint64_t t = 0; t < count; ++t) {
    column.c.push_back(static_cast<double>(coefficients.current()));
    coefficients.advance();
  }
  column.beyond = static_cast<double>(coefficients.current());
  column.ratio = 1 - nu.value();
  column.rounding_per_step = 3 * static_cast<double>(std::numeric_limits<long double>::epsilon());
  return column;
}

std::uint64_t nu_reach(Damping nu, std::uint64_t times) {
  // With ν = 0, c_t falls like 1/√(πt), whose squares have an infinite sum.
  if (nu.value() == 0) return endless_reach;
  // The rest of c has a norm below (1−ν)^n/√(1 − (1−ν)²), `times` times over. Where it is added to later
  // participations its norm enters once, not squared, so it must itself be negligible.
  const double log_rest = std::log(static_cast<double>(times)) - std::log(nu.value() * (2 - nu.value())) / 2;
  const double entries = (log_rest + 16 * std::numbers::ln10) / -std::log1p(-nu.value());
  return entries < 1e15 ? static_cast<std::uint64_t>(entries) + 1 : endless_reach;
}

}  // namespace nustream::privacy
