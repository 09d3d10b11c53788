// Projection of a record onto public bounds, and the displacements that follow from these bounds. Whatever the noise
// is calibrated to is enforced here, on the user's side; no maximum of the data is ever used.
#include "nustream/inference/local_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "base/shown.h"
#include "descent/norm.h"
#include "nustream/base/error.h"

namespace nustream::inference {
namespace {

// Reports grow with the square of the dimension; at this one they have half a million numbers.
constexpr std::size_t dimension_max = 1'000;

void require_radius(const char* name, const std::optional<double>& radius) {
  const bool valid = !radius || (std::isfinite(*radius) && *radius > 0);
  if (!valid) throw InvalidParameter(name, shown(*radius), "a finite number > 0");
}

/// R, the ℓ2 radius that the norm stands for. It is right for l1 because ‖x‖₂ ≤ ‖x‖₁.
double radius(const LocalBounds& bounds, LocalNorm norm) {
  if (norm == LocalNorm::l2) {
    if (!bounds.l2)
      throw InvalidParameter("x_l2_max", "none", "a bound on the l2 norm of x, for noise measured by it");
    return std::min(*bounds.l2, bounds.l1.value_or(*bounds.l2));
  }
  if (!bounds.l1) throw InvalidParameter("x_l1_max", "none", "a bound on the l1 norm of x, for noise measured by it");
  return *bounds.l1;
}

/// ‖v‖₁ in units of `scale`, a power of two, so that the sum does not overflow.
double scaled_l1(std::span<const double> v, double scale) {
  double sum = 0;
  for (const double entry : v) sum += std::fabs(entry / scale);
  return sum;
}

}  // namespace

void check(const LocalBounds& bounds) {
  if (bounds.dimension == 0 || bounds.dimension > dimension_max) {
    throw InvalidParameter("dimension", std::to_string(bounds.dimension), "1 to 1000 features");
  }
  if (!bounds.l1 && !bounds.l2) throw InvalidParameter("x_l1_max", "none", "a bound on a norm of x");
  require_radius("x_l1_max", bounds.l1);
  require_radius("x_l2_max", bounds.l2);
  // A difference that overflows is not finite either.
  const double span = bounds.label_upper - bounds.label_lower;
  const bool some = std::isfinite(span) && span > 0;
  if (!some) {
    throw InvalidParameter("label_max", shown(bounds.label_upper), "a finite number above label_min");
  }
  const bool between = bounds.label_centre >= bounds.label_lower && bounds.label_centre <= bounds.label_upper;
  if (!between) {
    throw InvalidParameter("label_centre", shown(bounds.label_centre), "label_min <= label_centre <= label_max");
  }
}

double label_reach(const LocalBounds& bounds) {
  return std::max(std::fabs(bounds.label_lower - bounds.label_centre),
                  std::fabs(bounds.label_upper - bounds.label_centre));
}

Projected project(const LocalBounds& bounds, std::span<double> x, double& y) {
  NUSTREAM_REQUIRE(x.size() == bounds.dimension, "a record of as many features as the bounds are for");
  const descent::ScaledNorm norm = descent::scaled_norm(x);
  if (std::isnan(norm.fraction) || !std::isfinite(y)) {
    std::ranges::fill(x, 0.0);
    y = bounds.label_centre;
    return {};
  }
  Projected result;
  const double label = std::clamp(y, bounds.label_lower, bounds.label_upper);
  result.label = label != y;
  y = label;
  // The length is held so far below the bound that no rounding of a sum, a quotient or a product leads beyond it.
  const double inside = 1 - (static_cast<double>(x.size()) + 16) * 0x1p-53;
  double length = std::numeric_limits<double>::infinity();  // length that one unit of the scaled x is brought to
  if (bounds.l1) length = std::min(length, *bounds.l1 * inside / scaled_l1(x, norm.scale));
  if (bounds.l2) length = std::min(length, *bounds.l2 * inside / norm.fraction);
  if (!(length < norm.scale)) return result;
  for (double& entry : x) entry = entry / norm.scale * length;
  // What roundings alone have shortened does not count as projected.
  result.features = length < norm.scale * (1 - 1e-9);
  return result;
}

LocalDisplacement local_displacement(const LocalBounds& bounds, LocalNorm norm) {
  const double r = radius(bounds, norm);
  const double first = norm == LocalNorm::paper ? 2 : std::numbers::sqrt2;
  return {first * r * r, 2 * r * label_reach(bounds)};
}

double local_mu(const LocalBounds& bounds, LocalNorm norm, NoiseStddev second_moment, NoiseStddev cross_moment) {
  const LocalDisplacement displacement = local_displacement(bounds, norm);
  const double first = displacement.second_moment / second_moment.value();
  const double second = displacement.cross_moment / cross_moment.value();
  if (norm == LocalNorm::paper) return std::hypot(first, second);
  // first² is 2(R²/σ_1)², and second²/2 is 2(RY/σ_2)².
  const double a = first * first;        // A
  const double b = second * second / 2;  // B
  return std::sqrt(b < 2 * a ? a + b + b * b / (4 * a) : 2 * b);
}

}  // namespace nustream::inference
