// The legend below a drawing in a file: what its marks mean.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "chart/chart.h"

namespace nustream::chart {

/// One entry for each named layer, in rows of at most `width` units, the first row at `top`. Returns the SVG and the
/// height at which the file ends below the rows.
[[nodiscard]] std::pair<std::string, double> legend_rows(const std::vector<Layer>& layers, double top, double width);

}  // namespace nustream::chart
