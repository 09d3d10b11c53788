// Translates between the poles of a rational correlation and the gaps that a search moves (poles.h).
#include "poles.h"

namespace nustream::privacy::optimised {
namespace {

/// base^exponent by multiplication: pow() gives other bits on other machines.
double whole_power(double base, std::size_t exponent) {
  double product = 1;
  for (std::size_t i = 0; i < exponent; ++i) product *= base;
  return product;
}

}  // namespace

// q = .9 and p = .8, for example, have the gaps .1 and .1.
std::vector<double> gaps_of(const noise::Rational& rational) {
  std::vector<double> gaps;
  double above = 1;
  for (std::size_t i = 0; i < rational.poles(); ++i) {
    gaps.push_back(above - rational.q()[i]);
    gaps.push_back(rational.q()[i] - rational.p()[i]);
    above = rational.p()[i];
  }
  return gaps;
}

// The ratio of the progression is a root, which is found by halving: only products are used, so that the bits are the
// same everywhere.
std::vector<double> geometric_gaps(std::size_t poles, double lowest) {
  constexpr double highest = 0.7;
  const std::size_t ratios = 2 * poles - 1;
  double low = 1;
  double high = highest / lowest;
  for (int halving = 0; halving < 100; ++halving) {
    const double middle = (low + high) / 2;
    (lowest * whole_power(middle, ratios) < highest ? low : high) = middle;
  }
  std::vector<double> gaps{lowest};
  double complement = lowest;
  for (std::size_t i = 0; i < ratios; ++i) {
    gaps.push_back(complement * high - complement);
    complement *= high;
  }
  return gaps;
}

}  // namespace nustream::privacy::optimised
