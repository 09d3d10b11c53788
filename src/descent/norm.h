// ‖v‖₂ where ‖v‖₂² would overflow or lose its last bits to underflow.
#pragma once

#include <span>

namespace nustream::descent {

/// ‖v‖₂ = scale · fraction, scale a power of two with scale ≤ max|v_j| < 2·scale and fraction in [1, 2√d),
/// relative error at most (d + 4)·2^-54. Zero vectors have scale 1 and fraction 0; where an entry is not
/// finite, the fraction is NaN.
struct ScaledNorm {
  double scale;
  double fraction;
};
[[nodiscard]] ScaledNorm scaled_norm(std::span<const double> v);

}  // namespace nustream::descent
