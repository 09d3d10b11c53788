// One private release of histograms over the rows of a part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "nustream/base/units.h"
#include "nustream/ranges/histogram.h"
#include "nustream/ranges/noise_draws.h"
#include "ranges/user_runs.h"

namespace nustream::ranges {

/// Sets the bins of the row at a position: one for each histogram, or no_bin.
using BinsAt = std::function<void(std::uint64_t position, std::span<std::size_t> bins)>;

/// Makes one release at `rho` of the histograms of `design` over the rows of `part`. Where the unit is the user, what
/// each user adds is shortened (UserCounts).
[[nodiscard]] NoisyCounts count_part(const Rows& rows, const Part& part, const HistogramDesign& design, Rho rho,
                                     const BinsAt& bins_at, KeyStage stage, const DrawNoise& draw);

}  // namespace nustream::ranges
