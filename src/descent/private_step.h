// The private step: where a gradient is clipped to G (clip_gradient) and put on the grid (on_grid), and where a
// step's noise is added to the sum of such gradients (add_noise). Private to the core.
//
// Whatever a record contributes is made short by shorten(), in one of four forms: clip_gradient() for gradients,
// row_factor() for rows of sums, share_within() for parts of a contribution that shrink together, and clamp_to() for
// single numbers. Noise is added by noised() alone, of which add_noise() gives the result as a real number. All
// kernels, loops, sums, counts and measured ranges call these functions, and tests/rooms/one_step.py looks for other
// code that clips or adds noise. (Two parts beside the private step keep promises of their own: in local privacy
// src/inference/local_bounds.cpp projects each record, and local_mechanism.cpp draws its noise; and
// src/inference/adassp.cpp is a rival that estimates are compared with.)
//
// The functions for noise are templates over what holds the numbers, so that one text serves a pack of eight
// (pack.h), a single number and one of 128 bits. All functions are always inlined: each kernel is compiled for one
// instruction set, and a copy that the linker kept for everyone would end the program on a processor without that
// instruction set.
//
// A step of one record, for one entry or one pack of it:
//
//     const ClippedGradient clipped = clip_gradient(slope, norm, to);
//     theta = step.moved(theta, add_noise(on_grid(clipped.factor, x), noise));
#pragma once

#include <cstdint>
#include <span>

#include "descent/norm.h"
#include "nustream/descent/clipped_count.h"
#include "nustream/noise/grid.h"

namespace nustream::descent {

// For single numbers, the functions that pack.h defines for packs.
using noise::saturating_add;
[[nodiscard, gnu::always_inline]] inline WideUnits saturating_add(WideUnits a, WideUnits b) noexcept {
  constexpr WideUnits largest = ~(WideUnits{1} << 127);
  WideUnits sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? -largest - 1 : largest;
}
[[nodiscard, gnu::always_inline]] inline std::int64_t truncate(double value) noexcept {
  return static_cast<std::int64_t>(value);
}
[[nodiscard, gnu::always_inline]] inline double to_reals(std::int64_t value) noexcept {
  return static_cast<double>(value);
}
[[nodiscard, gnu::always_inline]] inline double to_reals(WideUnits value) noexcept {
  return static_cast<double>(value);
}

/// The smaller of a factor and its limit: the one place where something is made shorter to keep a bound.
[[nodiscard, gnu::always_inline]] inline double shorten(double factor, double limit) noexcept {
  return factor > limit ? limit : factor;
}

/// The number clamped to ±bound. A NaN stays a NaN.
[[nodiscard, gnu::always_inline]] inline double clamp_to(double value, double bound) noexcept {
  return __builtin_copysign(shorten(__builtin_fabs(value), bound), value);
}

/// min(1, bound/length): the share of something of this length that fits into the bound. `length` may be 0.
[[nodiscard, gnu::always_inline]] inline double share_within(double length, double bound) noexcept {
  return shorten(1, bound / length);
}

/// min(1/R, 1/‖v‖): the factor that makes a row v one of length at most 1, in units of R. `squares` is ‖v‖², which
/// may have overflowed. NaN where an entry is not finite.
[[nodiscard, gnu::always_inline]] inline double row_factor(std::span<const double> v, double squares,
                                                           double radius) noexcept {
  if (squares <= radius * radius) return 1 / radius;  // as shorten() below would say, without a root
  if (squares < __builtin_inf()) return shorten(1 / radius, 1 / __builtin_sqrt(squares));
  const ScaledNorm norm = scaled_norm(v);
  return norm.fraction >= 1 ? shorten(1 / radius, 1 / norm.scale / norm.fraction) : norm.fraction;
}

/// Whether a sum of squares gives the norm to as many digits as clip_gradient() relies on. It does if none of its
/// terms overflowed and none that matters lost digits to underflow. The test is written so that a NaN fails it.
///
/// The norm of an outer product is the norm of one factor times that of the other. Each of the two is then tested,
/// with narrower limits, because the product may look harmless between one that is subnormal and one that is huge.
template <int factors = 1>
[[nodiscard, gnu::always_inline]] inline bool squares_in_range(double squares) noexcept {
  static_assert(factors == 1 || factors == 2);
  constexpr double smallest = factors == 1 ? 0x1p-900 : 0x1p-450;
  return squares > smallest && squares < 1 / smallest;
}

/// What clip_gradient() needs to know of G and the grid.
struct GridClip {
  double units_per_gradient;  ///< 1/s, the grid's units in one unit of the gradient
  double radius;              ///< clip_radius_in_units(), the bound of the norm in units of the grid
};

/// A clipped gradient of h·v is factor · v in units of the grid; on_grid() makes integers of it.
struct ClippedGradient {
  double factor;
  bool is_long;  ///< whether the gradient was longer than G; only the operator may see it
};

/// clip(h·v, G): the gradient h·v as it is where it is at most G long, else G long in the same direction.
///
/// `slope` is h and `norm` is ‖v‖₂ > 0. clip_radius_in_units() gives a radius so far below G/s that all roundings
/// from the sum of squares to the product with v fit between the two: whatever a record holds, its integers are at
/// most G/s long. An infinite slope counts as its limit, the direction ±v at full length. Neither slope nor norm may
/// be NaN: the fast paths send such a record to clip_to_grid() (clip.h), which makes it zeros.
///
/// Source: CDP+ Algorithm 1, clip(g) = g · min(1, G/‖g‖).
[[nodiscard, gnu::always_inline]] inline ClippedGradient clip_gradient(double slope, double norm,
                                                                       const GridClip& to) noexcept {
  const double limit = to.radius / norm;
  const double length = __builtin_fabs(slope) * to.units_per_gradient;
  const bool is_long = length > limit;
  return {__builtin_copysign(shorten(length, limit), slope), is_long};
}

/// trunc(factor · v): the integers of the clipped gradient for entries of v, given the factor of clip_gradient().
/// They are rounded towards zero: no entry grows, so the norm stays at most G. If a matrix slopes ⊗ x was clipped as
/// a whole (slope 1, norm ‖slopes‖·‖x‖), the column of one slope has the factor times that slope.
template <class Reals>
[[nodiscard, gnu::always_inline]] inline auto on_grid(double factor, const Reals& v) {
  return truncate(factor * v);
}

/// Σ_i u_i + z in units of the grid: a sum of clipped contributions and its noise. The two are added as integers, so
/// that the low bits of the noise cannot tell which contribution it was added to. The addition saturates, so it moves
/// the result by no more than the sum was moved. `Integers` may be any type that has saturating_add(), such as sums
/// of 128 bits.
template <class Integers>
[[nodiscard, gnu::always_inline]] inline Integers noised(const Integers& sum, const Integers& noise) {
  return saturating_add(sum, noise);
}

/// The noisy sum of one step as real numbers: noised(), converted once.
template <class Integers>
[[nodiscard, gnu::always_inline]] inline auto add_noise(const Integers& sum, const Integers& noise) {
  return to_reals(noised(sum, noise));
}

/// θ ← θ(1 − ηλ) − η(Σ_i u_i + z)s/m, the step of CDP+ Algorithm 1. It is grouped so that only the last product and
/// difference have to wait for the gradient.
struct NoisyStep {
  double keep;  ///< 1 − ηλ
  double gain;  ///< ηs/m

  [[nodiscard, gnu::always_inline]] static NoisyStep of(double step_size, double l2,
                                                        double gradient_per_unit) noexcept {
    return {1 - step_size * l2, step_size * gradient_per_unit};
  }
  /// The entries of the iterate after the step; `noisy` is what add_noise() gave.
  template <class Reals>
  [[nodiscard, gnu::always_inline]] Reals moved(const Reals& theta, const Reals& noisy) const {
    return keep * theta - gain * noisy;
  }
};

/// v ← μv + (Σ_i u_i + z)s/m + λθ, then θ ← θ − ηv: the heavy ball of descent/loop.h. The noise is already in
/// `noisy`, so v and θ are computed from what a plain step shows as well, and are post-processing.
struct MomentumStep {
  double momentum;  ///< μ
  double size;      ///< η
  double l2;        ///< λ
  double gradient_per_unit;

  template <class Reals>
  [[nodiscard, gnu::always_inline]] Reals velocity(const Reals& before, const Reals& theta,
                                                   const Reals& noisy) const {
    return momentum * before + (gradient_per_unit * noisy + l2 * theta);
  }
  template <class Reals>
  [[nodiscard, gnu::always_inline]] Reals moved(const Reals& theta, const Reals& velocity) const {
    return theta - size * velocity;
  }
};

}  // namespace nustream::descent
