// A lower triangle that is stored row by row, and its factor from below.
#pragma once

#include <cstddef>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"

namespace nustream::privacy::optimised {

/// Where row t begins.
[[nodiscard]] constexpr std::size_t row_start(std::size_t t) noexcept {
  return t * (t + 1) / 2;
}

/// The lower-triangular C with CᵀC = X, scaled so that C_00 = 1. `x` is the lower triangle of X, which has to be
/// positive definite. Takes O(T³).
[[nodiscard]] noise::Correlation encoder_of(std::vector<double> x, StepCount horizon);

}  // namespace nustream::privacy::optimised
