// One record of each kind that cannot be used, as it stands in its file. Not private.
#pragma once

#include <map>
#include <string>

#include "check/tally.h"
#include "config/input.h"

namespace nustream::check {

/// For each reason of `tally` where its first record stands and what is there: "line 5: 'NA'", with what to set where
/// the text tells. Empty where the input cannot be read twice, or is no file of lines. Failure(io).
[[nodiscard]] std::map<std::string, std::string> examples_of(const Tally& tally, const config::InputSettings& input);

}  // namespace nustream::check
