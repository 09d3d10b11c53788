#include "moments/clipped_normal.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace nustream::moments {
namespace {

/// E min(z², c²) of a z with deviation 1.
double within(double c) noexcept {
  const double beyond = std::erfc(c / std::numbers::sqrt2);
  const double density = std::exp(-c * c / 2) / std::sqrt(2 * std::numbers::pi);
  return c * c * beyond + (1 - beyond - 2 * c * density);
}

/// The c with E min(z², c²) = mean·c². The mean falls in c, from nearly 1 to nearly 0.
double bound_of(double mean) noexcept {
  double low = 0x1p-6;
  double high = 0x1p6;
  for (int i = 0; i < 50; ++i) {
    const double middle = std::sqrt(low * high);
    (within(middle) > mean * middle * middle ? low : high) = middle;
  }
  return low;
}

}  // namespace

double grown_within(double mean, double ratio) noexcept {
  constexpr double largest_mean = 0.9;
  const double bound = bound_of(std::min(mean, largest_mean));
  return within(bound * std::max(ratio, 1.0)) / within(bound);
}

double share_beyond(double mean) noexcept {
  return std::erfc(bound_of(mean) / std::numbers::sqrt2);
}

}  // namespace nustream::moments
