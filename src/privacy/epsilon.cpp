// The three conversions of ρ to (ε, δ). The exact Gaussian curve comes first: a tail function
// that keeps its digits at any δ, then Newton's method for ε. The two zCDP bounds follow, and last the inverse, ρ for
// a given ε, by halving.
#include "nustream/privacy/epsilon.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>

#include "nustream/base/error.h"
#include "rounding.h"

namespace nustream::privacy {
namespace {

// The Gaussian tail without underflow, overflow or cancellation, as the exact (ε, δ) curve needs it.

double mills_ratio(double x);

/// The C library's erfc is used below this point. Above it Laplace's continued fraction takes over, which needs
/// few terms there and does not underflow.
constexpr double fraction_from = 3;

/// How many terms of Laplace's fraction an error of 1e-17 needs.
int fraction_terms(double x) {
  return 16 + static_cast<int>(700 / (x * x));
}

/// The t of R(x) = 1/(x + t), that is t = 1/(x + 2/(x + 3/(x + …))), for each of several x ≥ 3. They are computed
/// side by side, since a division takes long and those of different x need not wait for each other.
template <std::size_t count>
std::array<double, count> laplace_fractions(const std::array<double, count>& x) {
  std::array<double, count> terms{};
  for (std::size_t i = 0; i < count; ++i) terms[i] = fraction_terms(x[i]);
  std::array<double, count> t{};
  for (double n = *std::ranges::max_element(terms); n >= 1; --n) {
    for (std::size_t i = 0; i < count; ++i) t[i] = n > terms[i] ? 0 : n / (x[i] + t[i]);
  }
  return t;
}

/// −R'(x) = 1 − x·R(x) > 0. For large x the product is close to 1, so the difference is taken from Laplace's fraction
/// instead.
double mills_slope(double x, double fraction) {
  return x < fraction_from ? 1 - x * mills_ratio(x) : fraction / (x + fraction);
}

struct Node {
  double place, weight;
};
/// Gauss–Legendre quadrature with ten points on [−1, 1]: the positive half of its nodes, which are symmetric.
constexpr std::array<Node, 5> gauss_legendre = {{{0.14887433898163121088, 0.29552422471475287017},
                                                 {0.43339539412924719080, 0.26926671930999635509},
                                                 {0.67940956829902440623, 0.21908636251598204400},
                                                 {0.86506336668898451073, 0.14945134915058059315},
                                                 {0.97390652851717172008, 0.06667134430868813759}}};

/// ∫ of −R' over [x, x + width]. The integrand is entire and has a length scale of 1, so that the rule's error is
/// below 1e-18 for width ≤ 1.
double slope_integral(double x, double width) {
  constexpr std::size_t count = 2 * gauss_legendre.size();
  std::array<double, count> places{};
  std::array<double, count> far{};
  for (std::size_t i = 0; i < count; ++i) {
    const double place = gauss_legendre[i / 2].place;
    places[i] = x + width / 2 * (i % 2 == 0 ? 1 - place : 1 + place);
    far[i] = std::max(places[i], fraction_from);
  }
  const std::array<double, count> fractions = laplace_fractions(far);
  double sum = 0;
  for (std::size_t i = 0; i < count; i += 2) {
    const double both = mills_slope(places[i], fractions[i]) + mills_slope(places[i + 1], fractions[i + 1]);
    sum += gauss_legendre[i / 2].weight * both;
  }
  return sum * width / 2;
}

/// Mills' ratio R(x) = Φ(−x)/φ(x) = √(π/2)·erfcx(x/√2) for x ≥ −8. The relative error is a few 1e-16.
double mills_ratio(double x) {
  if (x >= fraction_from) return 1 / (x + laplace_fractions<1>({x})[0]);
  return std::sqrt(std::numbers::pi / 2) * std::exp(x * x / 2) * std::erfc(x / std::numbers::sqrt2);
}

/// R(x) − R(x + width) for x ≥ −8 and width > 0. Small widths do not cancel.
double mills_difference(double x, double width) {
  // The integral of the slope keeps the digits that a difference of two nearly equal ratios would lose.
  if (width < 1) return slope_integral(x, width);
  return mills_ratio(x) - mills_ratio(x + width);
}

/// ln φ(x), with φ the standard normal density.
double log_density(double x) {
  return -x * x / 2 - std::log(2 * std::numbers::pi) / 2;
}

// The exact curve is computed in the variable x = ε/μ − μ/2 (Balle and Wang 2018, Theorem 8). Since e^ε φ(x + μ) =
// φ(x),
//   δ     = Φ(−x) − e^ε Φ(−x − μ) = φ(x)·(R(x) − R(x + μ)),
//   1 − δ = φ(x)·(R(−x) + R(x + μ)),
// with Mills' ratio R. Neither form overflows. Each is accurate where its left side is the smaller of δ and 1 − δ.

/// The logarithm of the smaller of δ and 1 − δ, and its derivative in x.
struct LogTail {
  double value, slope;
};

LogTail log_delta(double mu, double x) {
  const double difference = mills_difference(x, mu);
  return {log_density(x) + std::log(difference), -mu * mills_ratio(x + mu) / difference};
}

LogTail log_complement(double mu, double x) {
  const double far = mills_ratio(x + mu);
  const double sum = mills_ratio(-x) + far;
  return {log_density(x) + std::log(sum), mu * far / sum};
}

/// Newton's method within a bracket [low, high], on whose ends tail − target has opposite signs. A step that would
/// leave the bracket is replaced by halving. The iteration stops when x moves by less than the rounding of x +
/// scale_from: that sum is ε/μ, which has to be accurate relative to its own size.
double solve(const std::function<LogTail(double)>& tail, double target, double low, double high, double scale_from) {
  double x = (low + high) / 2;
  for (int iteration = 0; iteration < 200; ++iteration) {
    const LogTail at = tail(x);
    const double excess = at.value - target;
    ((excess > 0) == (at.slope < 0) ? low : high) = x;
    double next = x - excess / at.slope;
    // A step from an end of the bracket that hardly moves is the last one, even where rounding leads it outside.
    if (std::abs(next - x) <= 2 * unit_roundoff * std::abs(x + scale_from)) return std::clamp(next, low, high);
    const bool inside = next > low && next < high;
    if (!inside) next = (low + high) / 2;
    x = next;
  }
  return x;
}

double gaussian_epsilon(double mu, double delta) {
  if (mu == 0 || delta >= std::erf(mu / (2 * std::numbers::sqrt2))) return 0;  // δ at ε = 0: no positive ε is needed
  double x = 0;
  if (delta <= 0.5) {
    // The bracket: at x = −¾, δ exceeds ½ for every μ for which x can be so small, and for x ≥ 0, δ < Φ(−x) ≤
    // e^{−x²/2}/2.
    const double low = std::max(-mu / 2, -0.75);
    const double high = std::sqrt(-2 * std::log(2 * delta));
    x = solve([mu](double at) { return log_delta(mu, at); }, std::log(delta), low, high, mu / 2);
  } else {
    x = solve([mu](double at) { return log_complement(mu, at); }, std::log1p(-delta), -mu / 2, 0, mu / 2);
  }
  return std::max(0.0, mu * (x + mu / 2));
}

/// The bound of CDP+ appendix A, minimised over α: its derivative in α vanishes where ρ(α−1)² = ln(1/(αδ)), and
/// halving finds that root. Any α > 1 gives a valid bound, so the root's rounding costs accuracy to second order
/// and never validity.
double zcdp_epsilon(double rho, double delta) {
  if (rho == 0) return 0;
  const double log_inverse = -std::log(delta);
  double low = 0;
  double high = std::sqrt(log_inverse / rho);
  for (int halving = 0; halving < 200 && low < high; ++halving) {
    const double excess = low + (high - low) / 2;  // α − 1
    if (excess <= low || excess >= high) break;
    (rho * excess * excess < log_inverse - std::log1p(excess) ? low : high) = excess;
  }
  const double excess = high;
  const double order = 1 + excess;
  const double bound = rho * order + (log_inverse - std::log1p(excess)) / excess - std::log1p(1 / excess);
  return std::max(0.0, bound);
}

double simple_epsilon(double rho, double delta) {
  return rho + 2 * std::sqrt(rho * -std::log(delta));
}

}  // namespace

std::string_view name(Conversion conversion) {
  switch (conversion) {
    case Conversion::gaussian:
      return "gaussian";
    case Conversion::zcdp:
      return "zcdp";
    case Conversion::zcdp_simple:
      return "zcdp-simple";
  }
  NUSTREAM_REQUIRE(false, "a conversion is one of the three that exist");
  return {};
}

Epsilon epsilon(Rho rho, Delta delta, Conversion conversion) {
  switch (conversion) {
    case Conversion::gaussian:
      return Epsilon{gaussian_epsilon(std::sqrt(2 * rho.value()), delta.value())};
    case Conversion::zcdp:
      return Epsilon{zcdp_epsilon(rho.value(), delta.value())};
    case Conversion::zcdp_simple:
      return Epsilon{simple_epsilon(rho.value(), delta.value())};
  }
  NUSTREAM_REQUIRE(false, "a conversion is one of the three that exist");
  return Epsilon{0};
}

double gaussian_delta(double mu, double epsilon) {
  (void)Epsilon{epsilon};  // throws unless ε is finite and not negative
  if (!std::isfinite(mu) || mu <= 0) throw InvalidParameter("mu", std::to_string(mu), "a finite number > 0");
  // One rounding of ε − μ²/2: the two nearly cancel where x is near 0.
  const double x = std::fma(-mu / 2, mu, epsilon) / mu;
  if (x >= -0.5) return std::exp(log_density(x)) * mills_difference(x, mu);
  return -std::expm1(log_complement(mu, x).value);
}

Rho rho_for(Epsilon target, Delta delta, Conversion conversion) {
  // ε grows with ρ: find a ρ that fits and one, four times as large, that does not, and halve until they are
  // neighbours.
  const auto fits = [&](double rho) { return epsilon(Rho{rho}, delta, conversion) <= target; };
  double low = 1;
  while (!fits(low)) {
    low /= 4;
    if (low < std::numeric_limits<double>::min()) return Rho{0};
  }
  double high = 4 * low;
  while (std::isfinite(high) && fits(high)) {
    low = high;
    high *= 4;
  }
  while (true) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (fits(middle) ? low : high) = middle;
  }
  // epsilon() is accurate to 1e-13 and grows at least like the square root of ρ, so an error of ε is at most
  // doubled in ρ. The slack covers that.
  return Rho{rounded_down(low, 1e-12)};
}

}  // namespace nustream::privacy
