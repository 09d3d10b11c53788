// The public grid on which gradient and noise are added as integers, so that the low bits of a floating-point
// Gaussian cannot tell which gradient it was added to.
#pragma once

#include <cstdint>
#include <span>

#include "nustream/base/units.h"

namespace nustream::noise {

/// Multiples of a public spacing s = 2^k, s about σΔ·2^-32. The noisy gradient is
/// s·(trunc(clip(g)/s) + round(z/s)) with the sum in 64-bit integers: rounding z to the grid commutes with
/// adding a multiple of s, so it is a post-processing of the real-valued mechanism.
class Grid {
 public:
  /// `noise` is σΔ of the seed noise; `largest` the largest standard deviation of z in units of it
  /// (largest_stddev()). Throws InvalidParameter where G/s, or 40 standard deviations of z over s, reach
  /// 2^51 (half of 2^52, so that rounding can use the 1.5·2^52 trick).
  Grid(NoiseStddev noise, double largest, ClipNorm clip);

  /// s, gradient units; a power of two.
  [[nodiscard]] double spacing() const noexcept { return spacing_; }
  /// The norm that gradients are clipped to: G(1 − 2^-48), so that no rounding of the norm exceeds G.
  [[nodiscard]] double clip_radius() const noexcept { return clip_radius_; }

  /// round(z·σΔ/s) to nearest, ties to even, saturating at ±2^51. `z` in units of the seed noise's
  /// standard deviation. Bit-identical on every instruction set. Sizes must agree.
  void round_noise(std::span<const double> z, std::span<std::int64_t> out) const;

  /// trunc(g/s) for |g| ≤ G, towards zero: no coordinate grows, so neither does the norm.
  [[nodiscard]] std::int64_t truncate(double gradient) const noexcept {
    return static_cast<std::int64_t>(gradient * inverse_spacing_);
  }
  /// units · s, exact for |units| < 2^53.
  [[nodiscard]] double to_gradient(std::int64_t units) const noexcept {
    return static_cast<double>(units) * spacing_;
  }

 private:
  double spacing_;
  double inverse_spacing_;
  double scale_;  // σΔ/s
  double clip_radius_;
};

/// A block of grid integers for consecutive steps, row-major steps × dimension: what the lane is handed.
struct GridNoise {
  StepIndex first;
  std::size_t dimension;
  std::span<const std::int64_t> units;
};

/// a + b, saturating at the ends of int64 instead of wrapping.
[[nodiscard]] inline std::int64_t saturating_add(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? INT64_MIN : INT64_MAX;
}

}  // namespace nustream::noise
