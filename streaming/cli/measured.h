// What replay and estimate do about settings that are "private".
#pragma once

#include <string>

#include "config/ranges.h"
#include "measure/measure.h"

namespace nustream::cli {

/// Measures what is to be measured, prints it, and writes the settings to a new file where one is named; what no
/// setting asks for is left as it is.
[[nodiscard]] measure::Settled settle_ranges(config::Config asked, config::Purpose purpose,
                                             const folder::Options& options, const std::string& write_config);

}  // namespace nustream::cli
