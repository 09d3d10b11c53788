// The clip for every record, also for those whose ‖g‖² overflows or vanishes. The kernels clip ordinary records
// themselves and send the others here; both call clip_gradient() of private_step.h, where G is enforced.
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
  // A record without a usable gradient adds nothing, but keeps its step: the number of steps must not tell of it.
  if (std::isnan(slope) || slope == 0 || std::isnan(norm.fraction) || norm.fraction == 0) {
    std::ranges::fill(units, 0);
    return false;
  }
  // x is scaled by a power of two, which is exact, so that its norm is the fraction and neither overflows nor
  // vanishes.
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
