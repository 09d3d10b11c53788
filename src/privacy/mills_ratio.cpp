#include "mills_ratio.h"

#include <array>
#include <cmath>
#include <numbers>

namespace nustream::privacy {
namespace {

/// The C library's erfc is used below this point. Above it Laplace's continued fraction takes over, which needs
/// few terms there and does not underflow.
constexpr double fraction_from = 3;

/// The t of R(x) = 1/(x + t), that is t = 1/(x + 2/(x + 3/(x + …))), for x ≥ 3, with as many terms as an error of
/// 1e-17 needs.
double laplace_fraction(double x) {
  const int terms = 16 + static_cast<int>(700 / (x * x));
  double t = 0;
  for (int n = terms; n >= 1; --n) t = n / (x + t);
  return t;
}

/// −R'(x) = 1 − x·R(x) > 0. For large x the product is close to 1, so the difference is taken from the fraction
/// instead.
double mills_slope(double x) {
  if (x < fraction_from) return 1 - x * mills_ratio(x);
  const double t = laplace_fraction(x);
  return t / (x + t);
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
  double sum = 0;
  for (const Node& node : gauss_legendre) {
    const double half = width / 2;
    sum += node.weight * (mills_slope(x + half * (1 - node.place)) + mills_slope(x + half * (1 + node.place)));
  }
  return sum * width / 2;
}

}  // namespace

double mills_ratio(double x) {
  if (x >= fraction_from) return 1 / (x + laplace_fraction(x));
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
