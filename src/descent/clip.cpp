#include "nustream/descent/clip.h"

#include <algorithm>
#include <cmath>

#include "descent/norm.h"
#include "descent/private_step.h"

namespace nustream::descent {

double clip_radius_in_units(const noise::Grid& grid, std::size_t dimension) {
  const double rounding = (static_cast<double>(dimension) + 16) * 0x1p-53;
  return grid.clip_radius() / grid.spacing() * (1 - rounding);
}

bool clip_to_grid(double slope, std::span<const double> x, const noise::Grid& grid, std::span<std::int64_t> units) {
  const ScaledNorm norm = scaled_norm(x);
  if (std::isnan(slope) || slope == 0 || std::isnan(norm.fraction) || norm.fraction == 0) {
    std::ranges::fill(units, 0);
    return false;
  }
  const int exponent = std::ilogb(norm.scale);
  // The slope in units of the grid and of the scaled x. It overflows to infinity only where the gradient is longer
  // than G.
  const double scaled_slope = std::scalbn(slope, exponent - std::ilogb(grid.spacing()));
  const ClippedGradient clipped =
      clip_gradient(scaled_slope, norm.fraction, {1, clip_radius_in_units(grid, x.size())});
  for (std::size_t j = 0; j < x.size(); ++j) units[j] = on_grid(clipped.factor, std::scalbn(x[j], -exponent));
  return clipped.is_long;
}

bool clip_to_grid(std::span<const double> gradient, const noise::Grid& grid, std::span<std::int64_t> units) {
  return clip_to_grid(1.0, gradient, grid, units);
}

}  // namespace nustream::descent
