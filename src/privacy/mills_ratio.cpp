#include "mills_ratio.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace nustream::privacy {
namespace {

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

}  // namespace

double mills_ratio(double x) {
  if (x >= fraction_from) return 1 / (x + laplace_fractions<1>({x})[0]);
  return std::sqrt(std::numbers::pi / 2) * std::exp(x * x / 2) * std::erfc(x / std::numbers::sqrt2);
}

double mills_difference(double x, double width) {
  // The integral of the slope keeps the digits that a difference of two nearly equal ratios would lose.
  if (width < 1) return slope_integral(x, width);
  return mills_ratio(x) - mills_ratio(x + width);
}

double log_density(double x) {
  return -x * x / 2 - std::log(2 * std::numbers::pi) / 2;
}

}  // namespace nustream::privacy
