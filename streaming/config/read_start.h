// Where a descent begins, in the three ways that settings can say it.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "config/settings_tree.h"

namespace nustream::config {

/// [descent] start, in working coordinates: numbers are taken as they are; a table gives coefficients by name, in
/// original units, as releases show them; a text is the path of a file whose last line is a release to begin at,
/// relative to the settings' own file. Zeros where nothing is said.
///
/// All of `config` but its start is read by now. Failure(configuration) where a name is missing or not known, or the
/// release promises less than these settings; Failure(io) where the file cannot be read.
[[nodiscard]] std::vector<double> read_start(const Section& descent, const Config& config);

}  // namespace nustream::config
