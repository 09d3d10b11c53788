// What replay and estimate do about settings that are "private".
#pragma once

#include <string>

#include "config/ranges.h"
#include "folder/account_share.h"
#include "measure/measure.h"

namespace nustream::cli {

/// Measures what is to be measured, prints it, and writes the settings to a new file where one is named; what no
/// setting asks for is left as it is. What measuring spends is the folder's, of which `share` is told.
[[nodiscard]] measure::Settled settle_ranges(config::Config asked, config::Purpose purpose,
                                             const folder::Options& options, const std::string& write_config,
                                             folder::AccountShare& share);

}  // namespace nustream::cli
