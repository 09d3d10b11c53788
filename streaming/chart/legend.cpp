// Legends: as a list beside an SVG in a page, and as rows of text inside an SVG file, where there is no page to hold
// a list.
#include "chart/rows.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "chart/text.h"

namespace nustream::chart {
namespace {

/// A sample of the layer's mark, 18 units wide, at (x, y).
std::string sample(const Layer& layer, double x, double y) {
  if (layer.mark == Mark::dots) {
    // classes() gives "line h2", of which " h2" is taken.
    const std::string hue = classes(Mark::line, layer.hue).substr(4);
    return fmt::format("<circle class=\"line-end{}\" cx=\"{:g}\" cy=\"{:g}\" r=\"3\"/>", hue, x + 9, y);
  }
  return fmt::format("<path class=\"{}\" d=\"M{:g} {:g}h18{}\"/>", classes(layer.mark, layer.hue), x,
                     layer.mark == Mark::band ? y + 4 : y, layer.mark == Mark::band ? "v-8h-18z" : "");
}

/// Whether the layer has a name and at least one value that is drawn.
bool is_shown(const Layer& layer) {
  return !layer.name.empty() &&
         std::ranges::any_of(layer.points, [](const Point& point) { return std::isfinite(point.low); });
}

}  // namespace

std::string legend(const std::vector<Layer>& layers) {
  std::string out = "<ul class=\"keys\">";
  for (const Layer& layer : layers) {
    if (!is_shown(layer)) continue;
    out += "<li><svg class=\"chart key\" viewBox=\"0 0 18 12\" aria-hidden=\"true\">" + sample(layer, 0, 6) +
           "</svg>" + escaped(layer.name) + "</li>";
  }
  return out + "</ul>\n";
}

std::pair<std::string, double> legend_rows(const std::vector<Layer>& layers, double top, double width) {
  std::string out;
  double x = 12;
  double y = top;
  for (const Layer& layer : layers) {
    if (!is_shown(layer)) continue;
    // The sample, gaps, and some 6.4 units a letter: an SVG cannot measure its text.
    const double room = 40 + 6.4 * static_cast<double>(letters(layer.name));
    // A name that has no room in this row begins the next one, unless it is the first.
    if (x > 12 && x + room > width) {
      x = 12;
      y += 18;
    }
    out += sample(layer, x, y - 4) +
           fmt::format("<text class=\"tick\" x=\"{:g}\" y=\"{:g}\">{}</text>", x + 24, y, escaped(layer.name));
    x += room;
  }
  return {out, y + 12};
}

}  // namespace nustream::chart
