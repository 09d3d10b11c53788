// The coefficients of the recurrent filter of one coordinate, written out for several steps; private to the noise
// room. No function is defined here, for the reason that kernels.h gives.
#pragma once

#include <cstddef>

namespace nustream::noise {

inline constexpr std::size_t lookahead_steps = 8;
/// The most poles that fit into registers. With more, the filter walks over its states in memory, step by step.
inline constexpr std::size_t most_unrolled_poles = 12;
inline constexpr std::size_t padded_poles = 16;

/// The factors of kernel_lookahead.h, zero where nothing is said. j, k < lookahead_steps; i < poles.
struct alignas(64) LookaheadTable {
  double beta[lookahead_steps - 1][lookahead_steps];  ///< [j][k] = β_{k−j} for j < k
  double decay[padded_poles][lookahead_steps];        ///< [i][k] = a_i p_i^k
  double arrival[lookahead_steps][padded_poles];      ///< [j][i] = p_i^{7−j}
  double survival[padded_poles];                      ///< [i] = p_i^8
};

}  // namespace nustream::noise
