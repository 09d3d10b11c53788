// A fit as one file that can be shown, and as a picture.
#pragma once

#include <string>

#include "fit/columns.h"
#include "fit/report.h"

namespace nustream::fit {

/// One HTML file that refers to no other. It shows the answer, its cost, the ranges that were measured, and the
/// command and the settings to copy. Every figure in it is public, as the release is.
[[nodiscard]] std::string page(const Options& options, const Columns& columns, const Report& report);

/// An SVG file of each slope with its interval, times the scale of its column, so that they can be compared.
[[nodiscard]] std::string chart_file(const Report& report);

}  // namespace nustream::fit
