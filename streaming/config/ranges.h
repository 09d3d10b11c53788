// Settings that are not guessed: "private" in place of a number, which is measured at a share of ρ.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.h"

namespace nustream::config {

/// What stands in place of a number: for center, scale and clamp of [[features]] and [target], for clip_norm,
/// step_size and start of [descent], nu of [noise], and row_norm, residual_bound and start of [moments].
inline constexpr std::string_view private_value = "private";

/// The settings with numbers in place of all that is to be measured, which Config::measuring names. Nothing may be
/// spent under them: measure/measure.h puts the values in. Failure as read_config().
[[nodiscard]] Config read_config_to_measure(const std::string& file, const std::vector<std::string>& overrides,
                                            Purpose purpose);

/// What Config::ranges holds: keys with the values that were measured, in their order. Empty where the measuring
/// stopped.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> measured_settings(std::string_view ranges);
/// The digest of its rule; empty where there is none.
[[nodiscard]] std::string rule_of(std::string_view ranges);
/// Why the measuring stopped; empty where it did not.
[[nodiscard]] std::string stopped_by(std::string_view ranges);
/// ,"ranges":{"features.0.center":…}, where there are any.
void append_ranges(std::string_view ranges, std::string& out);

/// The settings as TOML, with `overrides` and no comments.
[[nodiscard]] std::string settings_as_toml(const std::string& file, const std::vector<std::string>& overrides);

}  // namespace nustream::config
