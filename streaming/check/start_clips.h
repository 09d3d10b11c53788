// How many gradients are clipped where a run begins.
#pragma once

#include <cstdint>

#include "config/config.h"
#include "config/mechanism.h"
#include "nustream/record/batch.h"

namespace nustream::check {

/// How many of the rows have a gradient at θ_0 (descent.start) that is longer than the clip norm. The lane itself
/// counts them in one step over all rows, without noise, and the step is thrown away. The count is not private.
[[nodiscard]] std::uint64_t clipped_at_start(const config::Config& config, const config::Mechanism& mechanism,
                                             const record::RowSlice& rows);

}  // namespace nustream::check
