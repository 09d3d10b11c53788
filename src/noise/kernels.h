// The vectorised loops, which are compiled from one source for each instruction set; private to the noise room. This
// header and what it includes must define no function: the files that include it are compiled for different
// instruction sets, and the linker would keep one copy for all of them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nustream::noise {

// The coefficients of the recurrent filter of one coordinate, written out for several steps; private to the noise
// room. No function is defined here, for the reason that kernels.h gives.
inline constexpr std::size_t lookahead_steps = 8;
/// The most poles that fit into registers. With more, the filter walks over its states in memory, step by step.
inline constexpr std::size_t most_unrolled_poles = 12;
inline constexpr std::size_t padded_poles = 16;

/// The factors of kernel_lookahead.h. Entries that are not named here are zero. j, k < lookahead_steps; i < poles.
struct alignas(64) LookaheadTable {
  double beta[lookahead_steps - 1][lookahead_steps];  ///< [j][k] = β_{k−j} for j < k
  double decay[padded_poles][lookahead_steps];        ///< [i][k] = a_i p_i^k
  double arrival[lookahead_steps][padded_poles];      ///< [j][i] = p_i^{7−j}
  double survival[padded_poles];                      ///< [i] = p_i^8
};

enum class InstructionSet;
struct LookaheadTable;

/// The p_i and a_i of a rational correlation, `poles` entries each, and the table that follows from them.
struct RecurrentCoefficients {
  std::size_t poles;
  const double* p;
  const double* a;
  const LookaheadTable* lookahead;  ///< read only for one coordinate and up to most_unrolled_poles
};

/// The loops of one instruction set. All sets give the same bits.
struct Kernels {
  /// fill_gaussian() over `count` words, which are whole chunks.
  void (*gaussian)(const std::uint64_t* words, double* samples, std::size_t count);
  /// units[i] = z[i]·scale rounded to nearest, ties to even, saturating at ±2^51.
  void (*round)(const double* z, double scale, std::int64_t* units, std::size_t count);
  /// z_t = w_t − Σ_i a_i s_i, s_i ← p_i s_i + w_t, in place on row-major steps × dimension; `states` is row-major
  /// poles × dimension. For dimension 1, `steps` should be a multiple of lookahead_steps in all calls but the last,
  /// because the last bits depend on where the strides begin.
  void (*recurrent)(const RecurrentCoefficients& coefficients, double* states, double* z, std::size_t dimension,
                    std::size_t steps);
};

/// The loops of `set`, which must be available; the process ends otherwise.
[[nodiscard]] const Kernels& kernels(InstructionSet set);

extern const Kernels kernels_baseline;
extern const Kernels kernels_avx2;
extern const Kernels kernels_avx512;

}  // namespace nustream::noise
