// Charts as SVG: the one drawing code of the status page, the reports and the figures of the docs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nustream::chart {

/// `text` for an element or an attribute of HTML or XML. Characters that XML does not have become U+FFFD.
[[nodiscard]] std::string escaped(std::string_view text);

/// At x, from `low` to `high` for a band; for everything else `low` is the value. What is not finite leaves a gap.
struct Point {
  double x = 0;
  double low = 0;
  double high = 0;
};

enum class Mark : std::uint8_t {
  band,   ///< an area between low and high
  faint,  ///< a thin line behind the others
  line,
};

struct Layer {
  std::string name;  ///< of the legend
  Mark mark;
  std::vector<Point> points;
};

struct Axis {
  std::string title;
  bool from_zero = false;  ///< the axis begins at 0
};

/// A line chart of one thing over another. Layers are drawn in their order.
struct Chart {
  std::string title;    ///< what a screen reader calls it
  std::string summary;  ///< and the sentence that it says then: the numbers that a reader would take from it
  Axis x;
  Axis y;
  std::vector<Layer> layers;
  double width = 360;  ///< of the drawing; a page shows it at whatever width there is
  double height = 190;
};

/// One element <svg>. Its colours are the page's own, by classes (colours()). Values that only few points have, such
/// as the first iterates of a stream under much noise, are cut at the edge, so that the rest can be seen; the last
/// value never is. `id`: of the document, letters and digits, one chart each.
[[nodiscard]] std::string svg(const Chart& chart, std::string_view id);

/// The rules of style that svg() needs, on light and dark pages.
[[nodiscard]] std::string_view colours();

/// A whole file: the chart with its title, its own colours, and a legend below.
[[nodiscard]] std::string svg_file(const Chart& chart);

/// "1234" below ten thousand, then "12.3 k", "1.23 M" and "1.23 G": steps and records on an axis.
[[nodiscard]] std::string short_count(double value);

}  // namespace nustream::chart
