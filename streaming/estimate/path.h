// The released iterates of an estimate, and the intervals that follow from several of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "console/report_parts.h"
#include "publish/intervals.h"
#include "publish/release_json.h"

namespace nustream::estimate {

/// The releases of a folder that were made under the settings digest `digest`, oldest first. Throws Failure(io) where
/// they cannot be read.
[[nodiscard]] std::vector<publish::ShownRelease> released_under(const std::string& folder, const std::string& digest);

/// How many runs of `steps` steps are finished, by the releases of their last steps.
[[nodiscard]] std::uint64_t finished_runs(const std::vector<publish::ShownRelease>& path, std::uint64_t steps);

/// The intervals of an estimate. The last release has its own for batch means, sandwich and residuals; for the other
/// kinds they are made of checkpoints or last iterates along the path. Nothing where there are too few of those, or
/// where no intervals are asked for.
[[nodiscard]] std::optional<console::ReportedIntervals> intervals_along(
    const config::Config& config, const std::vector<publish::ShownRelease>& path);

}  // namespace nustream::estimate
