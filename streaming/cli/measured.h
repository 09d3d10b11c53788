// What replay and estimate do about settings that are "private".
#pragma once

#include <string>

#include "config/ranges.h"
#include "folder/account_share.h"
#include "measure/measure.h"

namespace nustream::cli {

/// Measures the settings that are "private", prints the result, and writes the settings to a new file where one is
/// named. Other settings stay as they are. What measuring spends is charged to the folder, and `share` is told.
[[nodiscard]] measure::Settled settle_ranges(config::Config asked, config::Purpose purpose,
                                             const folder::Options& options, const std::string& write_config,
                                             folder::AccountShare& share);

}  // namespace nustream::cli
