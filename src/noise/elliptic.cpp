// Complete elliptic integrals and a Jacobi function by the arithmetic-geometric mean. They give γ_∞ of exact ν-FTRL
// and the poles of its rational approximation. All take 1 − m in place of the parameter m, which is close to 1 for
// small ν.
#include "nustream/noise/elliptic.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "base/shown.h"

namespace nustream::noise {
namespace {

void check_positive(const char* name, double value) {
  const bool allowed = std::isfinite(value) && value > 0;
  if (!allowed) refuse(name, value, "a finite number > 0");
}

// The scale a_n, b_n of the arithmetic-geometric mean, which starts from (1, √complement). Each term halves log(a/b)
// at first, and convergence is quadratic once a/b is moderate, so 24 terms are enough for the smallest double.
struct Scale {
  static constexpr std::size_t capacity = 24;
  std::array<double, capacity> a{};
  std::array<double, capacity> b{};
  std::size_t last = 0;
};

Scale scale_of(double complement) {
  const bool allowed = complement > 0 && complement <= 1;
  if (!allowed) refuse("complement", complement, "0 < 1 - m <= 1");
  Scale scale;
  double a = 1;
  double b = std::sqrt(complement);
  for (std::size_t n = 0;; ++n) {
    scale.a[n] = a;
    scale.b[n] = b;
    scale.last = n;
    // When a − b is below 1e-9 a, (a − b)² is below the rounding of a, and the next mean is exact.
    if (a - b <= 1e-9 * a || n + 1 == Scale::capacity) break;
    const double mean = (a + b) / 2;
    b = std::sqrt(a * b);
    a = mean;
  }
  return scale;
}

// The common limit of both means. They agree to 1e-9 by then, and their mean is right to rounding.
double limit(const Scale& scale) {
  return (scale.a[scale.last] + scale.b[scale.last]) / 2;
}

}  // namespace

double arithmetic_geometric_mean(double x, double y) {
  check_positive("x", x);
  check_positive("y", y);
  double a = std::fmax(x, y);
  double b = std::fmin(x, y);
  while (a - b > 1e-9 * a) {
    const double mean = a / 2 + b / 2;
    // The roots are multiplied, not the numbers: x·y could overflow or vanish.
    b = std::sqrt(a) * std::sqrt(b);
    a = mean;
  }
  return a / 2 + b / 2;
}

// K = π/(2·AGM(1, √(1 − m))).
double complete_elliptic_integral_first(double complement) {
  return std::numbers::pi / 2 / limit(scale_of(complement));
}

// E = K·(1 − Σ_n 2^{n−1} c_n²), with c_{n+1} = (a_n − b_n)/2.
double complete_elliptic_integral_second(double complement) {
  const Scale scale = scale_of(complement);
  // The sum 1 − Σ 2^{n−1} c_n² with c_0² = 1 − b_0² is written as (1 + b_0²)/2 − Σ_{n≥1}, because c_0² would cancel.
  double sum = (1 + complement) / 2;
  double power = 1;
  for (std::size_t n = 0; n <= scale.last; ++n) {
    const double half_difference = (scale.a[n] - scale.b[n]) / 2;
    sum -= power * half_difference * half_difference;
    power *= 2;
  }
  return std::numbers::pi / 2 / limit(scale) * sum;
}

// sn/cn, from the limit of the mean, where it is a tangent, back to the first term.
double jacobi_sc(double fraction, double complement) {
  const bool allowed = fraction >= 0 && fraction < 1;
  if (!allowed) refuse("fraction", fraction, "0 <= u/K < 1");
  const Scale scale = scale_of(complement);
  if (fraction == 0) return 0;
  // Let C_n = a_n cn/sn and D_n = dn at the n-th modulus. Then C_n = C_{n+1} D_{n+1} and D_n = (b_n a_{n+1} +
  // C²_{n+1})/(a_n a_{n+1} + C²_{n+1}). At the limit the modulus is 0, where cn/sn is the cotangent.
  double cotangent = limit(scale) / std::tan(fraction * (std::numbers::pi / 2));
  double delta = 1;
  for (std::size_t n = scale.last + 1; n-- > 0;) {
    const double next_mean = (scale.a[n] + scale.b[n]) / 2;
    const double square = cotangent * cotangent;
    cotangent *= delta;
    delta = (scale.b[n] * next_mean + square) / (scale.a[n] * next_mean + square);
  }
  return 1 / cotangent;
}

}  // namespace nustream::noise
