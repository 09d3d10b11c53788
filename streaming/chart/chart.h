// Charts as SVG: the one drawing code of the status page, the reports and the figures of the docs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nustream::chart {

/// `text` for an element or an attribute of HTML or XML. Characters that XML does not have become U+FFFD.
[[nodiscard]] std::string escaped(std::string_view text);

/// At x, from `low` to `high` for a band; dots are in the middle of the two, with a bar from one to the other; for
/// everything else `low` is the value. What is not finite leaves a gap, as what is not above 0 on a logarithmic axis.
struct Point {
  double x = 0;
  double low = 0;
  double high = 0;
};

enum class Mark : std::uint8_t {
  band,   ///< an area between low and high
  faint,  ///< a thin line behind the others
  line,
  dots,  ///< measurements with their error
};

/// Hues repeat behind so many.
inline constexpr unsigned hues = 7;

struct Layer {
  std::string name;  ///< of the legend, which leaves out what has none
  Mark mark;
  std::vector<Point> points;
  unsigned hue = 0;  ///< a colour and, of lines, a dash pattern: which of several things it shows
};

struct Axis {
  std::string title;
  bool from_zero = false;    ///< the axis begins at 0, where it is not logarithmic
  bool logarithmic = false;  ///< for values that span decades
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

/// What each hue and mark means, as a list of HTML: beside an svg() of several layers.
[[nodiscard]] std::string legend(const std::vector<Layer>& layers);

/// A whole file: the chart with its title, its own colours, and a legend below.
[[nodiscard]] std::string svg_file(const Chart& chart);

/// The class of a mark, with its hue where that is not the first: "line h2".
[[nodiscard]] std::string classes(Mark mark, unsigned hue);

/// A file of one drawing: its style, its ground, `title`, and `body` below it.
[[nodiscard]] std::string file_of(std::string_view title, double width, double height, std::string_view body);

/// What a screen reader is told of an svg() with this id: its title and the sentence of its numbers.
[[nodiscard]] std::string spoken(std::string_view id, std::string_view title, std::string_view summary);

/// "1234" below ten thousand, then "12.3 k", "1.23 M" and "1.23 G": steps and records on an axis.
[[nodiscard]] std::string short_count(double value);

}  // namespace nustream::chart
