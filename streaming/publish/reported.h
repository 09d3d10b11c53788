// Intervals and strength of a release as reports and the API show them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "publish/release_json.h"

namespace nustream::publish {

/// Those that a release carries itself.
[[nodiscard]] std::optional<ReportedIntervals> reported_intervals(const publish::ShownRelease& release);

/// ,"KEY":{"kind":…,"lower":{…},"upper":{…}}, bounds by name: the same text in releases, reports and the API.
void append_intervals(std::string_view key, std::span<const std::string> names, const ReportedIntervals& intervals,
                      std::string& out);
/// The same with the names of the release's estimate.
void append_intervals(std::string_view key, const ShownRelease& release, const ReportedIntervals& intervals,
                      std::string& out);
/// ,"first_stage":{…}, or ,"instruments":{…} of running sums; nothing where the release carries none.
void append_strength(const ShownRelease& release, std::string& out);

}  // namespace nustream::publish
