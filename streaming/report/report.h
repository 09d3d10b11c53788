// Shows a run as one file: what was released, with its intervals and its cost, and the settings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/mechanism.h"
#include "folder/options.h"
#include "publish/release_json.h"
#include "serve/shown_lane.h"

namespace nustream::report {

/// What a report needs beside the releases.
struct Run {
  std::string command;  ///< the command that makes the run again
  /// Intervals over several runs or checkpoints, for where the last release carries none itself.
  std::optional<publish::ReportedIntervals> intervals{};
};

/// The command that was typed, without the settings on its command line: the report's settings hold them.
[[nodiscard]] std::string again(const config::Config& config, const folder::Options& options);

/// Adds those releases of a file in a folder's format that are of the same lane and epoch as `last`, one of its
/// lines. It reads line by line. Throws Failure(io) where the file cannot be read.
void add_history(const std::string& file, const std::string& last, serve::History& history);

/// The epoch of the last line of `releases`, a file in a folder's format, as it was published. It reads line by line.
/// Where there is no line, or no file, nothing was published. Throws Failure(io) where the file cannot be read.
[[nodiscard]] serve::ShownLane shown_lane(const config::Config& config, const config::Mechanism& mechanism,
                                          const std::string& releases);

/// One HTML file that refers to no other. Every figure in it is public, as the releases are. It has no script, and
/// its style stands in it, under its hash in the content security policy. It shows the settings without the sections
/// [kafka], [local], [serve] and [state], because names of brokers, secrets and places do not belong in a report.
/// What was measured stands in place of "private".
[[nodiscard]] std::string page(const config::Config& config, const config::Mechanism& mechanism, const Run& run);

/// An SVG file of the path of one coefficient, the first that is not the intercept. The title says so where nothing
/// was released.
[[nodiscard]] std::string chart_file(const config::Config& config, const config::Mechanism& mechanism,
                                     const Run& run);

/// The settings of `file` with the overrides, as a report shows them: without brokers, secrets and places.
[[nodiscard]] std::string settings_of(const std::string& file, const std::vector<std::string>& overrides);
/// The section that says how to make the same again: a command, settings, and a remark in HTML, which may be empty.
[[nodiscard]] std::string same_again(const std::string& command, const std::string& settings,
                                     const std::string& remark = {});

}  // namespace nustream::report
