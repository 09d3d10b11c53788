// Defines the bound on the influence of a record, and clips to that bound for every input, however extreme.
//
// G is enforced by one function, clip_gradient() in src/descent/private_step.h. Every kernel and loop of a descent
// calls it with the radius of clip_radius_in_units(). The fast paths do so where the sum of squares is a number of
// ordinary size; for all other records they fall back to clip_to_grid(), which calls it too. Running sums and
// measured ranges have bounds of their own, which other functions of the same header enforce.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nustream/noise/grid.h"

namespace nustream::descent {

/// The bound that the norm of a clipped gradient is held to, in units of the grid:
///
///     clip_radius()/s · (1 − (d + 16)·2^-53).
///
/// The last factor makes room for rounding. The sum of d squares in floating point (in any order), its root, and the
/// three roundings that lead to a coordinate are together off by less than (d/2 + 6)·2^-53. So the exact norm after
/// truncation is at most G, at every d and for every gradient.
[[nodiscard]] double clip_radius_in_units(const noise::Grid& grid, std::size_t dimension);

/// Writes trunc(clip(slope · x, G)/s), the clipped gradient of a loss of the form f(θᵀx, y). `x` and `units` have d
/// entries.
///
/// The whole range of numbers is handled: ‖slope · x‖ may overflow or underflow. An infinite slope (from exp(θᵀx) of
/// the Poisson loss) counts as its limit, the direction ±x at full length G. A NaN slope, or an x that is not finite,
/// gives the zero gradient. Returns whether the gradient was longer than G, which only the operator may see.
bool clip_to_grid(double slope, std::span<const double> x, const noise::Grid& grid, std::span<std::int64_t> units);

/// Writes trunc(clip(g, G)/s) for any gradient; the zero gradient where an entry is not finite.
bool clip_to_grid(std::span<const double> gradient, const noise::Grid& grid, std::span<std::int64_t> units);

}  // namespace nustream::descent
