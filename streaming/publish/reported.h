// The intervals and the strength of a release, as reports and the API show them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "publish/json_writer.h"
#include "publish/release_json.h"

namespace nustream::publish {

/// The intervals that a release carries itself; empty where it carries none.
[[nodiscard]] std::optional<ReportedIntervals> reported_intervals(const publish::ShownRelease& release);

/// Writes "KEY":{"kind":…,"lower":{…},"upper":{…}} with the bounds by name. Releases, reports and the API have the
/// same text.
void append_intervals(MemberName key, std::span<const std::string> names, const ReportedIntervals& intervals,
                      JsonWriter& json);
/// Writes the same with the names of the release's estimate.
void append_intervals(MemberName key, const ShownRelease& release, const ReportedIntervals& intervals,
                      JsonWriter& json);
/// Writes "first_stage":{…}, or ,"instruments":{…} for running sums; nothing where the release carries neither.
void append_strength(const ShownRelease& release, JsonWriter& json);

}  // namespace nustream::publish
