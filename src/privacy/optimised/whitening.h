// Computes the filter that makes noise of a given spectrum white; private to the privacy room.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "../transfer.h"

namespace nustream::privacy::optimised {

/// (1/2π) ∫ spectrum(ω) cos jω dω for j < count, by the rectangle rule over `points` equal parts of the circle;
/// `points` is a power of two ≥ 2·count. The rule's error is the coefficients from points − count on, which it
/// adds to the result. O(points log points).
[[nodiscard]] std::vector<double> cosine_coefficients(const std::function<double(const Frequency&)>& spectrum,
                                                      std::size_t count, std::size_t points);

/// The filter 1, β_1, …, β_{n−1} that minimises Σ_ij β_i β_j y_{|i−j|}, y = `autocovariances` of n entries. It is
/// the prediction-error filter: its |B|² tends to a multiple of 1/spectrum as n grows, and it has no zero outside
/// the unit circle. O(n²).
///
/// Source: Levinson 1947, Durbin 1960.
[[nodiscard]] std::vector<double> whitening_filter(const std::vector<double>& autocovariances);

}  // namespace nustream::privacy::optimised
