// Computes the first columns of B and C.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/shown.h"
#include "nustream/noise/correlation.h"
#include "overload.h"

namespace nustream::noise {
namespace {

using Series = std::vector<double>;

[[noreturn]] Series refuse_matrix(const Correlation& correlation) {
  throw Unsupported("the correlation " + correlation.name() +
                    " is not Toeplitz and has no coefficients: use dense_noise_matrix");
}

// The first `count` entries of a series that is zero behind its given coefficients.
Series padded(const Series& coefficients, std::size_t count) {
  Series series(count, 0.0);
  std::copy_n(coefficients.begin(), std::min(count, coefficients.size()), series.begin());
  return series;
}

// Adds weight·rate^{t−1} to every entry t ≥ 1. The power is computed anew every 64 entries, so that the rounding of
// repeated products stays below 64 units in the last place at any t.
void add_powers(Series& series, double weight, double rate) {
  constexpr std::size_t stretch = 64;
  for (std::size_t first = 1; first < series.size(); first += stretch) {
    double term = weight * std::pow(rate, static_cast<double>(first - 1));
    const std::size_t end = std::min(series.size(), first + stretch);
    for (std::size_t t = first; t < end; ++t) {
      series[t] += term;
      term *= rate;
    }
  }
}

// 1, weight, weight·rate, weight·rate², …
Series powers(double weight, double rate, std::size_t count) {
  Series series = padded({1.0}, count);
  add_powers(series, weight, rate);
  return series;
}

// 1 and then sign·Σ_i weights_i rates_i^{t−1}: β of a rational correlation with the sign −1, and its c with the sign
// +1.
Series one_plus_powers(double sign, const Series& weights, const Series& rates, std::size_t count) {
  Series series = padded({1.0}, count);
  for (std::size_t i = 0; i < weights.size(); ++i) add_powers(series, sign * weights[i], rates[i]);
  return series;
}

// The series (1 − (1−ν)x)^{1/2} for shift −3 (CDP+ eq. (7)), or (1 − (1−ν)x)^{−1/2} for shift −1. Its entries follow
// from f_t = f_{t−1} (1−ν)(2t + shift)/(2t).
Series square_root_series(Damping nu, double shift, std::size_t count) {
  const double memory = 1 - nu.value();
  Series series = padded({1.0}, count);
  for (std::size_t t = 1; t < count; ++t) {
    const double twice = 2 * static_cast<double>(t);
    series[t] = series[t - 1] * ((twice + shift) / twice) * memory;
  }
  return series;
}

}  // namespace

// The cut β is a correlation of its own. Its C is not that of ν-FTRL, and the privacy room computes its own
// sensitivity.
Correlation windowed_nu(Damping nu, std::size_t terms, std::optional<StepCount> horizon) {
  return Correlation{Windowed{square_root_series(nu, -3, terms), horizon}};
}

std::vector<double> noise_coefficients(const Correlation& correlation, std::size_t count) {
  return std::visit(
      Overload{[&](const Independent&) { return padded({1.0}, count); },
               [&](const NuFtrl& family) { return square_root_series(family.nu, -3, count); },
               [&](const Rational& rational) { return one_plus_powers(-1, rational.a(), rational.p(), count); },
               [&](const DampedAntiPgd& family) {
                 return padded({1.0, -(1 - family.nu.value())}, count);
               },
               [&](const AntiPgd&) {
                 return padded({1.0, -1.0}, count);
               },
               [&](const Windowed& family) { return padded(family.beta, count); },
               // Here C is what was given, so B is its inverse. For a window below it is the other way round.
               [&](const Strategy& family) { return series_inverse(family.c, count); },
               [&](const Tree&) { return refuse_matrix(correlation); },
               [&](const Dense&) { return refuse_matrix(correlation); },
               [&](const Restarted&) { return refuse_matrix(correlation); }},
      correlation.family());
}

std::vector<double> strategy_coefficients(const Correlation& correlation, std::size_t count) {
  // c is the inverse of the very β above. Where c has a closed form, that is taken in place of a series inverse.
  return std::visit(
      Overload{[&](const Independent&) { return padded({1.0}, count); },
               [&](const NuFtrl& family) { return square_root_series(family.nu, -1, count); },
               [&](const Rational& rational) { return one_plus_powers(1, rational.b(), rational.q(), count); },
               [&](const DampedAntiPgd& family) {
                 const double memory = 1 - family.nu.value();
                 return powers(memory, memory, count);
               },
               [&](const AntiPgd&) { return Series(count, 1.0); },
               [&](const Windowed& family) { return series_inverse(family.beta, count); },
               [&](const Strategy& family) { return padded(family.c, count); },
               [&](const Tree&) { return refuse_matrix(correlation); },
               [&](const Dense&) { return refuse_matrix(correlation); },
               [&](const Restarted&) { return refuse_matrix(correlation); }},
      correlation.family());
}

std::vector<double> series_inverse(const std::vector<double>& a, std::size_t count) {
  if (a.empty() || a.front() == 0 || !std::isfinite(a.front())) {
    throw InvalidParameter("a", "a series that starts with 0, or with nothing", "a finite first coefficient, not 0");
  }
  // Trailing zeros would cost time in every entry.
  std::size_t support = a.size();
  while (a[support - 1] == 0) --support;
  Series inverse(count, 0.0);
  // b_t = ([t = 0] − Σ_{s≥1} a_s b_{t−s})/a_0.
  for (std::size_t t = 0; t < count; ++t) {
    double sum = t == 0 ? 1 : 0;
    const std::size_t reach = std::min(t, support - 1);
    for (std::size_t s = 1; s <= reach; ++s) sum -= a[s] * inverse[t - s];
    inverse[t] = sum / a.front();
  }
  return inverse;
}

}  // namespace nustream::noise
