// A run as one file that can be shown: what was released, with its intervals and its cost, and the settings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/mechanism.h"
#include "folder/options.h"
#include "publish/reported.h"
#include "serve/shown_lane.h"

namespace nustream::report {

/// What a report is made of beside the releases.
struct Run {
  std::string command;  ///< that makes it again
  /// Of several runs or checkpoints, where the last release carries none itself.
  std::optional<publish::ReportedIntervals> intervals{};
};

/// The command that was typed, without what it sets, which is among the report's settings.
[[nodiscard]] std::string again(const config::Config& config, const folder::Options& options);

/// Adds the releases of a file in a folder's format that are of the lane and epoch of `last`, one of its lines; read
/// line by line. Failure(io) where it cannot be read.
void add_history(const std::string& file, const std::string& last, serve::History& history);

/// The epoch of the last line of `releases`, a file in a folder's format, as it was published; read line by line.
/// Without a line, or a file, nothing was. Failure(io) where it cannot be read.
[[nodiscard]] serve::ShownLane shown_lane(const config::Config& config, const config::Mechanism& mechanism,
                                          const std::string& releases);

/// One HTML file that refers to no other: every figure of it is public, as the releases are. No script; its style
/// stands in it, under its hash in the content security policy. The settings are told without the sections [kafka],
/// [local], [serve] and [state]: names of brokers, secrets and places are nobody's business. What was measured stands
/// in place of "private".
[[nodiscard]] std::string page(const config::Config& config, const config::Mechanism& mechanism, const Run& run);

/// An SVG file of one coefficient's path: of the first that is no intercept. Says so where nothing was released.
[[nodiscard]] std::string chart_file(const config::Config& config, const config::Mechanism& mechanism,
                                     const Run& run);

/// `file` with overrides as a report tells it, without what is nobody's business.
[[nodiscard]] std::string settings_of(const std::string& file, const std::vector<std::string>& overrides);
/// The section on how to come by the same: a command, settings and a remark in HTML, which may be empty.
[[nodiscard]] std::string same_again(const std::string& command, const std::string& settings,
                                     const std::string& remark = {});

}  // namespace nustream::report
