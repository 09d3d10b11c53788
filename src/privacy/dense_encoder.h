// The encoder of a correlation that is given as a matrix.
#pragma once

#include <memory>

#include "encoder_norm.h"
#include "nustream/noise/dense.h"

namespace nustream::privacy {

/// With x_s(T) = Σ_{t<T} C_ts², column s's squared norm within T steps: for one participation max_s x_s. For several
///
///     min(k', ⌈bands/b⌉) · max_π Σ_{s∈π} x_s,   k' = min(k, ⌈T/b⌉),
///
/// the maximum by a dynamic programme. Exact where the bands do not reach from one participation to the next
/// (bands ≤ b: the columns are orthogonal), an upper bound otherwise: of m = ⌈bands/b⌉ classes, each of every m-th
/// participation, each has orthogonal columns, and ‖Σ_{i≤m} v_i‖² ≤ m Σ ‖v_i‖².
///
/// The diagonal is divided by when noise is generated, so C itself is what generates: nothing is inverted here.
/// O(T · bands) for all rising numbers of steps together, and O(T k') more for each where k > 1.
[[nodiscard]] std::unique_ptr<EncoderNorm> dense_norm(const noise::Dense& encoder,
                                                      const Participation& participation);

}  // namespace nustream::privacy
