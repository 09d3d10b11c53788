// Reads where a descent begins, in the three forms that settings have for it.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "config/settings_tree.h"

namespace nustream::config {

/// Reads start of [descent], in working coordinates. Numbers are taken as they are. A table gives coefficients by
/// name, in original units, as releases show them. A text is the path, relative to the settings' own file, of a file
/// whose last line is the release to begin at. Without the key all are zero.
///
/// All of `config` but its start has to be read before. Throws Failure(configuration) where a name is missing or
/// unknown, or the release promises less than these settings, and Failure(io) where the file cannot be read.
[[nodiscard]] std::vector<double> read_start(const Section& descent, const Config& config);

}  // namespace nustream::config
