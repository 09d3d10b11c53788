// Writes a configuration with the ranges that a fit found.
#pragma once

#include <string>

#include "fit/report.h"

namespace nustream::fit {

/// TOML for `estimate` and `replay`, which begin at the fit's answer. It warns that a run of it spends again.
[[nodiscard]] std::string to_config(const Columns& columns, const Report& report);

}  // namespace nustream::fit
