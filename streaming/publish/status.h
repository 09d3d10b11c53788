// Whether a release's path has settled, as its line tells it: from the batch means of its noisy
// iterates alone.
#pragma once

#include <optional>
#include <string>

#include "nustream/inference/path_status.h"
#include "nustream/lane/lane.h"

namespace nustream::publish {

/// Nothing where the lane keeps no batch means.
[[nodiscard]] std::optional<inference::PathStatus> status_of(const lane::Release& release);
/// Whether an interval may be shown: nothing is known to move.
[[nodiscard]] bool may_show_intervals(const lane::Release& release);

/// ,"status":{"verdict":…}
void append_status(const inference::PathStatus& status, std::string& out);

}  // namespace nustream::publish
