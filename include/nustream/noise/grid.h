// The public grid on which gradient and noise are added as integers, so that the low bits of a floating-point
// Gaussian cannot tell which gradient it was added to.
#pragma once

#include <cstdint>
#include <span>

#include "nustream/base/units.h"

namespace nustream::noise {

/// The multiples of a public spacing s = 2^k, s about σΔ·2^-32. The noisy gradient is s·(trunc(clip(g)/s) +
/// round(z/s)), where the sum is one of 64-bit integers. Rounding z to the grid commutes with adding a multiple of s,
/// so the noisy gradient is a post-processing of the real-valued mechanism.
class Grid {
 public:
  /// `noise` is σΔ of the seed noise. `largest` is the largest standard deviation of z in units of σΔ
  /// (largest_stddev()). Throws InvalidParameter where G/s, or 40 standard deviations of z over s, reach 2^51. That
  /// is half of 2^52, which leaves room for rounding by adding 1.5·2^52. Throws it also where s would be too small to
  /// be a normal number.
  Grid(NoiseStddev noise, double largest, ClipNorm clip);

  /// The spacing s in gradient units; a power of two.
  [[nodiscard]] double spacing() const noexcept { return spacing_; }
  /// The norm that gradients are clipped to: G(1 − 2^-48), so that no rounding of the norm can exceed G.
  [[nodiscard]] double clip_radius() const noexcept { return clip_radius_; }

  /// Rounds z·σΔ/s to the nearest integer, ties to even, saturating at ±2^51. `z` is in units of the seed noise's
  /// standard deviation. The bits are the same on every instruction set. Both spans must have the same size.
  void round_noise(std::span<const double> z, std::span<std::int64_t> out) const;

  /// trunc(g/s) for |g| ≤ G, towards zero. No coordinate grows, so neither does the norm.
  [[nodiscard]] std::int64_t truncate(double gradient) const noexcept {
    return static_cast<std::int64_t>(gradient * inverse_spacing_);
  }
  /// The gradient that `units` stand for, units · s. It is exact for |units| < 2^53.
  [[nodiscard]] double to_gradient(std::int64_t units) const noexcept {
    return static_cast<double>(units) * spacing_;
  }

 private:
  double spacing_;
  double inverse_spacing_;
  double scale_;  // σΔ/s
  double clip_radius_;
};

/// A block of grid integers for consecutive steps, row-major steps × dimension: the form in which a lane receives its
/// noise.
struct GridNoise {
  StepIndex first;
  std::size_t dimension;
  std::span<const std::int64_t> units;
};

/// a + b, which saturates at the ends of int64 instead of wrapping.
[[nodiscard]] inline std::int64_t saturating_add(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? INT64_MIN : INT64_MAX;
}

}  // namespace nustream::noise
