// Whether a release's path has settled, as its line tells it: from the batch means of its noisy
// iterates alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "nustream/inference/path_status.h"
#include "nustream/lane/lane.h"

namespace nustream::publish {

/// Nothing where the lane keeps no batch means.
[[nodiscard]] std::optional<inference::PathStatus> status_of(const lane::Release& release);
/// Whether an interval may be shown: nothing is known to move.
[[nodiscard]] bool may_show_intervals(const lane::Release& release);

/// What a line tells of it.
struct ShownStatus {
  std::string verdict;
  double trend = 0, halves = 0, ends = 0, memory = 0, false_alarm = 0;
};
[[nodiscard]] ShownStatus shown(const inference::PathStatus& status);
/// ,"status":{"verdict":…}
void append_status(const ShownStatus& status, std::string& out);

}  // namespace nustream::publish
