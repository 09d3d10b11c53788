// Computes ‖v‖₂ even where ‖v‖₂² would overflow, or lose its last bits to underflow.
#pragma once

#include <span>

namespace nustream::descent {

/// ‖v‖₂ = scale · fraction. scale is a power of two with scale ≤ max|v_j| < 2·scale, and fraction lies in [1, 2√d)
/// with a relative error of at most (d + 4)·2^-54. A vector of zeros has scale 1 and fraction 0. Where an entry is
/// not finite, the fraction is NaN.
struct ScaledNorm {
  double scale;
  double fraction;
};
[[nodiscard]] ScaledNorm scaled_norm(std::span<const double> v);

}  // namespace nustream::descent
