// How many gradients are clipped where a run begins.
#pragma once

#include <cstdint>

#include "config/config.h"
#include "config/mechanism.h"
#include "nustream/record/batch.h"

namespace nustream::check {

/// How many of the rows have a gradient at θ_0 (descent.start) that is longer than the clip norm: what the lane
/// itself counts in one step over all of them, which is thrown away. No noise is drawn, and nothing of the step is
/// kept. Not private.
[[nodiscard]] std::uint64_t clipped_at_start(const config::Config& config, const config::Mechanism& mechanism,
                                             const record::RowSlice& rows);

}  // namespace nustream::check
