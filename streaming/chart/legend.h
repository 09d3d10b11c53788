// What the marks of a drawing mean, below it in a file.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "chart/chart.h"

namespace nustream::chart {

/// One entry a named layer, from left to right in rows of at most `width` units, the first at `top`; and where the
/// file ends below them.
[[nodiscard]] std::pair<std::string, double> legend_rows(const std::vector<Layer>& layers, double top, double width);

}  // namespace nustream::chart
