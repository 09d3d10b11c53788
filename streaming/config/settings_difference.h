// Which settings make one settings digest another: told to whoever resumes a state under settings that changed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/mechanism.h"

namespace nustream::config {

/// One entry a setting that differs between two texts of settings_text(), in the order of `here`, with both values
/// where they are single and short: "descent.clip_norm (2 there, 4 here)". What follows from other settings (σ of a
/// correlation, Δ of a clip norm) is left out where one of those differs. `there` may be any bytes.
[[nodiscard]] std::vector<std::string> differing_settings(std::string_view there, std::string_view here);

/// Nothing where `digest` is one of `digests`. Else Failure(data), naming what differs between `text`, which `digest`
/// is of, and the present settings; where `text` is empty, as in states of earlier versions, the digests.
void require_same_settings(std::string_view text, const std::string& digest, const EpochDigests& digests);

}  // namespace nustream::config
