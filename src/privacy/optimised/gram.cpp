// Factors a Gram matrix X = CᵀC. This is Cholesky's method, run from the last row up. Run from the first row
// down it would give X = L Lᵀ, with the factors in the other order.
#include "gram.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nustream::privacy::optimised {
namespace {

/// Subtracts from row t what the rows [first, last) contribute to it: row t −= Σ_{r ∈ [first, last)} C_{r,t} C_r,
/// entries 0 … t.
void take_out(std::vector<double>& triangle, std::size_t t, std::size_t first, std::size_t last) {
  double* const row = triangle.data() + row_start(t);
  for (std::size_t r = last; r-- > first;) {
    const double* const other = triangle.data() + row_start(r);
    const double weight = other[t];
    for (std::size_t s = 0; s <= t; ++s) row[s] -= weight * other[s];
  }
}

/// Factors X = CᵀC in place into the lower-triangular C, from the last row up. Sixteen rows are handled at a time,
/// so that they stay in the cache.
void factor(std::vector<double>& triangle, std::size_t steps) {
  constexpr std::size_t block = 16;
  for (std::size_t last = steps; last > 0;) {
    const std::size_t first = last - std::min(block, last);
    for (std::size_t t = last; t-- > first;) {
      take_out(triangle, t, t + 1, last);
      double* const row = triangle.data() + row_start(t);
      const double diagonal = std::sqrt(row[t]);
      for (std::size_t s = 0; s <= t; ++s) row[s] /= diagonal;
    }
    for (std::size_t t = 0; t < first; ++t) take_out(triangle, t, first, last);
    last = first;
  }
}

}  // namespace

noise::Correlation encoder_of(std::vector<double> x, StepCount horizon) {
  const auto steps = static_cast<std::size_t>(horizon.value());
  factor(x, steps);
  // C is free up to a factor, which σ takes up. With C_00 = 1, σ means the same as for Toeplitz encoders.
  const double scale = x.front();
  for (double& entry : x) entry /= scale;
  return noise::Correlation{noise::Dense(std::move(x), steps, horizon)};
}

}  // namespace nustream::privacy::optimised
