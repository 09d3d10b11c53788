// Computes z for an encoder that is given row by row; private to the noise room.
#pragma once

#include <cstddef>
#include <memory>

#include "generator.h"
#include "nustream/noise/dense.h"

namespace nustream::noise {

/// z_t = (w_t − Σ_{s<t} C_ts z_s)/C_tt by forward substitution: O(bands) per sample, and B is never written out. Each
/// z depends on all seed noise since step 0, so all of it is read again after restore(). In memory it keeps the z of
/// bands − 1 steps. Terms are subtracted from the oldest step to the latest, whatever the block, so z is the same to
/// the bit in any slicing.
[[nodiscard]] std::unique_ptr<Generator> make_forward(const Dense& encoder, std::size_t dimension);

}  // namespace nustream::noise
