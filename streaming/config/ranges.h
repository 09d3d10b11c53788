// Settings that are "private" in place of a number: they are measured, at a share of ρ, instead of being guessed.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.h"
#include "publish/json_writer.h"

namespace nustream::config {

/// The word that stands in place of a number. It may replace center, scale and clamp of [[features]] and [target],
/// clip_norm, step_size and start of [descent], nu of [noise], and row_norm, residual_bound and start of [moments].
inline constexpr std::string_view private_value = "private";

/// Reads the settings with placeholders for all numbers that are to be measured; Config::measuring names those.
/// Nothing may be spent under these settings before measure/measure.h has put the real values in. Throws as
/// read_config() does.
[[nodiscard]] Config read_config_to_measure(const std::string& file, const std::vector<std::string>& overrides,
                                            Purpose purpose);

/// The keys and values that were measured, in their order, read from the text of Config::ranges. Empty where the
/// measuring was stopped.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> measured_settings(std::string_view ranges);
/// The digest of the rule by which they were measured; empty where nothing was measured.
[[nodiscard]] std::string rule_of(std::string_view ranges);
/// Why the measuring was stopped; empty where it was not.
[[nodiscard]] std::string stopped_by(std::string_view ranges);
/// Writes "ranges":{"features.0.center":…}, where there are any.
void append_ranges(std::string_view ranges, publish::JsonWriter& json);

/// The settings as TOML, with `overrides` in place and without comments.
[[nodiscard]] std::string settings_as_toml(const std::string& file, const std::vector<std::string>& overrides);

}  // namespace nustream::config
