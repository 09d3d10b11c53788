// Numbers side by side as SVG: a row each, a dot on a common axis, with a bar of its interval or error.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chart/chart.h"

namespace nustream::chart {

struct Row {
  std::string label;  ///< empty: the row takes no room for one
  double value = 0;   ///< NaN: only the bar is drawn
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
  std::string shown{};  ///< the value as text; empty: three digits; " ": none
  unsigned hue = 0;     ///< as of a Layer
};

struct RowGroup {
  std::string heading;  ///< may be empty
  std::vector<Row> rows;
};

struct Rows {
  std::string title;
  std::string summary;  ///< as of a Chart
  Axis axis;
  std::vector<RowGroup> groups;
  std::optional<double> mark{};  ///< an upright line at this value
  std::vector<Layer> keys{};     ///< what hues mean, for a file's legend
  double width = 360;            ///< from 600 on labels stand beside their rows, else above them
};

/// One element <svg>, as high as it has rows.
[[nodiscard]] std::string svg(const Rows& rows, std::string_view id);

/// A whole file.
[[nodiscard]] std::string svg_file(const Rows& rows);

}  // namespace nustream::chart
