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

/// Intervals as a report shows them.
struct ReportedIntervals {
  std::string kind;
  std::string covers;
  double level = 0;
  std::uint64_t effective_steps = 0;
  std::uint64_t through = 0;  ///< the step that they go up to: their age is what was stepped since
  bool too_few = false;
  std::vector<std::pair<double, double>> bounds;  ///< in the order of the release's estimate
  std::vector<double> means{};  ///< that they stand around, where it is neither the estimate nor its average
};

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
