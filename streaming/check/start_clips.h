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

struct ClippedContributions {
  std::uint64_t contributions = 0;
  std::uint64_t clipped = 0;
};

/// The same where the unit is the user: how many sums of one user's rows in a step of descent.minibatch rows there
/// are, and how many of them are longer than the clip norm. Limits are left out of account. The rows name their
/// users. Contract: the model is estimated by descent.
[[nodiscard]] ClippedContributions clipped_contributions(const config::Config& config,
                                                         const config::Mechanism& mechanism,
                                                         const record::RowSlice& rows);

}  // namespace nustream::check
