// Charts as SVG: the one drawing code of the status page, the reports and the figures of the docs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nustream::chart {

/// Makes `text` safe inside an element or an attribute of HTML or XML. Control characters other than tab and newline
/// become U+FFFD.
[[nodiscard]] std::string escaped(std::string_view text);

/// What is drawn at x: a band reaches from `low` to `high`, dots lie in the middle of the two with a bar from one to
/// the other, and every other mark shows `low`. A value that is not finite leaves a gap, and so does one that is not
/// above 0 on a logarithmic axis.
struct Point {
  double x = 0;
  double low = 0;
  double high = 0;
};

enum class Mark : std::uint8_t {
  band,   ///< an area between low and high
  faint,  ///< a thin line behind the others
  line,
  dots,  ///< measurements with a bar for their error
};

/// The number of different hues; a larger hue repeats an earlier one.
inline constexpr unsigned hues = 7;

struct Layer {
  std::string name;  ///< its name in the legend, which leaves out layers without a name
  Mark mark;
  std::vector<Point> points;
  unsigned hue = 0;  ///< distinguishes layers by a colour and, for lines, a dash pattern
};

struct Axis {
  std::string title;
  bool from_zero = false;    ///< the axis begins at 0; a logarithmic one does not
  bool logarithmic = false;  ///< for values that span decades
};

/// A line chart of one thing over another. Layers are drawn in their order.
struct Chart {
  std::string title;    ///< what a screen reader calls the chart
  std::string summary;  ///< the sentence that it reads next: the numbers that a reader takes from the chart
  Axis x;
  Axis y;
  std::vector<Layer> layers;
  double width = 360;  ///< of the drawing, in its own units; a page shows it at whatever width it has
  double height = 190;
};

/// One element <svg>, coloured by the page's own classes (colours()). A few values that lie far from all others, such
/// as the first iterates of a stream under much noise, are cut at the edge so that the rest can be seen. The last
/// value is never cut. `id` consists of letters and digits, and no other chart of the document uses it.
[[nodiscard]] std::string svg(const Chart& chart, std::string_view id);

/// The style rules that svg() needs, for light and dark pages.
[[nodiscard]] std::string_view colours();

/// A list in HTML that says what each hue and mark means; it stands beside an svg() of several layers.
[[nodiscard]] std::string legend(const std::vector<Layer>& layers);

/// A whole SVG file: the chart with its title, its own colours, and a legend below.
[[nodiscard]] std::string svg_file(const Chart& chart);

/// The class of a mark, and of its hue unless that is the first one, such as "line h2".
[[nodiscard]] std::string classes(Mark mark, unsigned hue);

/// A whole SVG file of one drawing: the style, a ground, `title`, and `body` below the title.
[[nodiscard]] std::string file_of(std::string_view title, double width, double height, std::string_view body);

/// What a screen reader reads aloud for the svg() with this id: its title, and the sentence that holds its numbers.
[[nodiscard]] std::string spoken(std::string_view id, std::string_view title, std::string_view summary);

/// A count as a short text for an axis: "1234" below ten thousand, then "12.3 k", "1.23 M" and "1.23 G".
[[nodiscard]] std::string short_count(double value);

}  // namespace nustream::chart
