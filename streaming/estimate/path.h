// The iterates of an estimate as they were released, and the intervals that several of them give.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "console/report_parts.h"
#include "publish/intervals.h"
#include "publish/release_json.h"

namespace nustream::estimate {

/// The releases of a folder that were made under a settings digest, oldest first. Failure(io).
[[nodiscard]] std::vector<publish::ShownRelease> released_under(const std::string& folder, const std::string& digest);

/// How many of them are the last of a run of `steps` steps.
[[nodiscard]] std::uint64_t finished_runs(const std::vector<publish::ShownRelease>& path, std::uint64_t steps);

/// Of the last release's own (batch means, sandwich), or from checkpoints or finals along the path; nothing where
/// there are too few of them.
[[nodiscard]] std::optional<console::ReportedIntervals> intervals_along(
    const config::Config& config, const std::vector<publish::ShownRelease>& path);

}  // namespace nustream::estimate
