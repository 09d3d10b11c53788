// Whether the path of a release has settled, as its line tells it. It is computed from the batch means of the noisy
// iterates alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "nustream/inference/path_status.h"
#include "nustream/lane/lane.h"
#include "publish/json_writer.h"

namespace nustream::publish {

/// The status of a release; empty where the lane keeps no batch means.
[[nodiscard]] std::optional<inference::PathStatus> status_of(const lane::Release& release);
/// Whether an interval may be shown, that is, whether the path is not known to move.
[[nodiscard]] bool may_show_intervals(const lane::Release& release);

/// Writes "status":{"verdict":…}.
void append_status(const inference::PathStatus& status, JsonWriter& json);

/// A line's verdict as a sentence for people; "" for an empty verdict.
[[nodiscard]] std::string_view in_words(std::string_view verdict) noexcept;
/// Whether the verdict says that what the line holds is no answer, or will not stay one.
[[nodiscard]] bool is_warning(std::string_view verdict) noexcept;

}  // namespace nustream::publish
