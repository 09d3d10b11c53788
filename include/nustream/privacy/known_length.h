// Correlations that are published as A = B C with a C that is not triangular: they look at the whole stream, so that
// its length has to be known.
//
// What such a mechanism releases is an estimate from C g + w, where g are the gradients and w is white noise. Any
// other encoder C' with C'ᵀC' = CᵀC differs from C by a rotation alone. White noise does not change by a rotation, so
// that both encoders have the same privacy and the same errors. One such C' is lower triangular, and its noise can be
// generated step by step, while the gradients are still unknown. This is the encoder that is returned here, as a
// noise::Dense. Its decoder is A C'⁻¹, which has the least variance of all decoders of C.
//
// Source of the rotation: Denisov et al. 2022, who show by it that lower-triangular factors lose nothing.
#pragma once

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"

namespace nustream::privacy {

/// Binary-tree aggregation whose prefix sums are estimated from all nodes of the tree, those that are completed later
/// included ("full Honaker"). It ends after 2^height steps. Takes O(8^height) once and O(4^height) memory.
///
/// Throws InvalidParameter for `height` above 11, where the matrix would be too large.
///
/// Source: Honaker 2015, section 3.2; CDP+ Table 3.
[[nodiscard]] noise::Correlation full_honaker(unsigned height);

/// The optimal circulant factorisation of prefix sums over T steps ("FFT"). Its encoder is the first T columns of the
/// square root of the circulant matrix of 2T rows whose first column is T ones and T zeros. Takes O(T³) once and
/// O(T²) memory.
///
/// Throws InvalidParameter for a horizon of 0 or above 4095.
///
/// Source: Choquette-Choo et al. 2023, "Multi-epoch matrix factorization", section 4 and appendix; CDP+ Table 3.
[[nodiscard]] noise::Correlation circulant(StepCount horizon);

}  // namespace nustream::privacy
