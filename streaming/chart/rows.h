// Numbers side by side as SVG: one row each, with a dot on a common axis and a bar for its interval or error.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chart/chart.h"

namespace nustream::chart {

struct Row {
  std::string label;  ///< empty for no label; where all rows' are empty, no room is left for labels
  double value = 0;   ///< NaN: only the bar is drawn
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
  std::string shown{};  ///< the value as text; empty: three digits; " ": none
  unsigned hue = 0;     ///< as in Layer
};

struct RowGroup {
  std::string heading;  ///< may be empty
  std::vector<Row> rows;
};

struct Rows {
  std::string title;
  std::string summary;  ///< as in Chart
  Axis axis;
  std::vector<RowGroup> groups;
  std::optional<double> mark{};  ///< where an upright line is drawn
  std::vector<Layer> keys{};     ///< what hues mean, for a file's legend
  double width = 360;            ///< from 600 on labels stand beside their rows, else above them
};

/// One element <svg>, whose height follows from the number of rows.
[[nodiscard]] std::string svg(const Rows& rows, std::string_view id);

/// A whole SVG file of the rows.
[[nodiscard]] std::string svg_file(const Rows& rows);

/// One entry for each named layer, in rows of at most `width` units, the first row at `top`. Returns the SVG and the
/// height at which the file ends below the rows.
[[nodiscard]] std::pair<std::string, double> legend_rows(const std::vector<Layer>& layers, double top, double width);

}  // namespace nustream::chart
