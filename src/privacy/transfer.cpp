// Gives |B(ω)|² for each family that has a spectrum. Products of squared_factor() are used wherever the zeros and
// poles of B are known; a window's B is a polynomial and is evaluated as such.
#include "transfer.h"

#include <cmath>
#include <cstddef>
#include <variant>
#include <vector>

#include "../noise/overload.h"
#include "nustream/base/error.h"

namespace nustream::privacy {
namespace {

using Transfer = std::function<double(const Frequency&)>;

/// |Σ_t β_t e^{iωt}|² by Horner's rule.
///
/// A node does not say on which half of the circle it lies, so sin ω is taken as positive. This changes nothing: β is
/// real, so |B(−ω)| = |B(ω)|.
double squared_polynomial(const std::vector<double>& beta, const Frequency& at) {
  const double cosine = at.cosine_squared - at.sine_squared;
  const double sine = 2 * std::sqrt(at.cosine_squared * at.sine_squared);
  double real = 0;
  double imaginary = 0;
  for (std::size_t t = beta.size(); t-- > 0;) {
    const double turned = real * cosine - imaginary * sine + beta[t];
    imaginary = real * sine + imaginary * cosine;
    real = turned;
  }
  return real * real + imaginary * imaginary;
}

/// Refuses correlations that end and matrices that are not Toeplitz. The variance of their noise differs from step to
/// step, so they have no spectrum.
Transfer refuse(const noise::Correlation& correlation) {
  throw Unsupported("the correlation " + correlation.name() + " has no stationary spectrum");
}

}  // namespace

double squared_transfer(const noise::Rational& rational, const Frequency& at) {
  double product = 1;
  for (std::size_t i = 0; i < rational.poles(); ++i) {
    product *= squared_factor(1 - rational.q()[i], at) / squared_factor(1 - rational.p()[i], at);
  }
  return product;
}

Transfer squared_transfer(const noise::Correlation& correlation) {
  if (correlation.horizon()) return refuse(correlation);
  return std::visit(
      noise::Overload{
          [](const noise::Independent&) -> Transfer { return [](const Frequency&) { return 1.0; }; },
          // β(x) = √(1 − (1−ν)x) by CDP+ eq. (7), so |B|² is a square root of a squared factor.
          [](const noise::NuFtrl& nu) -> Transfer {
            return [damping = nu.nu.value()](const Frequency& at) { return std::sqrt(squared_factor(damping, at)); };
          },
          [](const noise::Rational& rational) -> Transfer {
            return [rational](const Frequency& at) { return squared_transfer(rational, at); };
          },
          [](const noise::DampedAntiPgd& damped) -> Transfer {
            return [damping = damped.nu.value()](const Frequency& at) { return squared_factor(damping, at); };
          },
          [](const noise::Windowed& window) -> Transfer {
            return [beta = window.beta](const Frequency& at) { return squared_polynomial(beta, at); };
          },
          [&](const auto&) { return refuse(correlation); }},
      correlation.family());
}

}  // namespace nustream::privacy
