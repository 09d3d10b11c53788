// Makes of what the text of settings has for each stage of the noise what a file has for all of them: one
// correlation, the shares of ρ, and the kind of intervals.
#pragma once

#include "config/settings_by_name.h"
#include "config/settings_difference.h"

namespace nustream::config {

/// Another name of the first key that a message shows where batches are gone: either of two keys asks for them, and
/// the text does not tell which.
inline constexpr const char* asks_for_batches = "intervals.kind or release.status";

/// Joins the lines of the stages in each of two texts. A correlation that all stages share is there once, shares of ρ
/// follow from the noise multipliers (all stages have one sensitivity, so that ρ is in proportion to 1/σ²), and
/// intervals are named by their kind. Where the text leaves the kind open, `here` goes by `beside`.
void join_stages(SettingsByName& there, SettingsByName& here, const BesideTexts& beside);

}  // namespace nustream::config
