// A fit as one file to show, and as a picture.
#pragma once

#include <string>

#include "fit/columns.h"
#include "fit/report.h"

namespace nustream::fit {

/// One HTML file that refers to no other: the answer, its cost, the ranges that were measured, and the command and
/// the settings to copy. Every figure of it is public, as the release is.
[[nodiscard]] std::string page(const Options& options, const Columns& columns, const Report& report);

/// An SVG file: each slope with its interval, over the scale of its column, so that they compare.
[[nodiscard]] std::string chart_file(const Report& report);

}  // namespace nustream::fit
