// Line charts as SVG. Each layer is one path, cut at the frame by a clip path; grid and ticks are drawn below the
// layers.
#include "chart/chart.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "chart/rows.h"
#include "chart/scale.h"

namespace nustream::chart {
namespace {

/// The rectangle of the drawing within the chart, and the scales of its two axes.
struct Frame {
  double left, right, top, bottom;
  Scale xs, ys;

  [[nodiscard]] double across(double x) const { return left + (right - left) * xs.share(x); }
  /// The height of `y`, counted from the top. A value outside of the axis lies at most one height outside of the
  /// frame, where the clip path cuts it off.
  [[nodiscard]] double down(double y) const {
    const double share = ys.has(y) ? ys.share(y) : -1;
    return bottom - (bottom - top) * std::clamp(share, -1.0, 2.0);
  }
};

/// The class by which colours() styles a mark.
constexpr std::string_view class_of(Mark mark) {
  switch (mark) {
    case Mark::band:
      return "band";
    case Mark::faint:
      return "faint";
    case Mark::dots:
      return "dots";
    case Mark::line:
      break;
  }
  return "line";
}

/// A line through the points that begins anew behind each gap.
std::string path_of(const std::vector<Point>& points, const Frame& frame) {
  std::string path;
  bool begun = false;
  for (const Point& point : points) {
    if (!frame.xs.has(point.x) || !frame.ys.has(point.low)) {
      begun = false;
      continue;
    }
    // Such as "M40.0 120.5L52.0 118.2": a move to the first point of a stretch, and lines from there on.
    fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", begun ? 'L' : 'M', frame.across(point.x),
                   frame.down(point.low));
    begun = true;
  }
  return path;
}

/// An area for each stretch without a gap: the path goes there along the upper ends and back along the lower ones.
std::string area_of(const std::vector<Point>& points, const Frame& frame) {
  const auto has_ends = [&](const Point& point) {
    return frame.xs.has(point.x) && std::isfinite(point.low) && std::isfinite(point.high);
  };
  std::string path;
  for (auto from = points.begin(); from != points.end();) {
    from = std::find_if(from, points.end(), has_ends);
    const auto end = std::find_if_not(from, points.end(), has_ends);
    if (from == end) break;
    for (auto at = from; at != end; ++at) {
      fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", at == from ? 'M' : 'L', frame.across(at->x),
                     frame.down(at->high));
    }
    for (auto at = end; at != from;) {
      --at;
      fmt::format_to(std::back_inserter(path), "L{:.1f} {:.1f}", frame.across(at->x), frame.down(at->low));
    }
    path += 'Z';
    from = end;
  }
  return path;
}

/// The class of a hue, with a blank in front; "" for the first hue, whose colour is that of the chart itself.
std::string hue_of(unsigned hue) {
  return hue % hues == 0 ? std::string() : fmt::format(" h{}", hue % hues);
}

/// A dot at a line's last point, so that a line of a single point is seen at all. Bands and dots get none.
std::string dot_of(const Layer& layer, const Frame& frame) {
  if (layer.mark == Mark::band || layer.mark == Mark::dots || layer.points.empty()) return {};
  const Point& last = layer.points.back();
  if (!frame.xs.has(last.x) || !frame.ys.has(last.low)) return {};
  return fmt::format("<circle class=\"{}-end{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/>", class_of(layer.mark),
                     hue_of(layer.hue), frame.across(last.x), frame.down(last.low), layer.mark == Mark::line ? 3 : 2);
}

/// Draws each measurement as a dot, with a bar from its lower to its upper end.
std::string dots_of(const Layer& layer, const Frame& frame) {
  std::string out;
  for (const Point& point : layer.points) {
    // The dot lies between the two ends of the bar.
    const double middle = (point.low + point.high) / 2;
    if (!frame.xs.has(point.x) || !frame.ys.has(middle)) continue;
    if (point.high > point.low) {
      fmt::format_to(std::back_inserter(out), "<path class=\"error{}\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>",
                     hue_of(layer.hue), frame.across(point.x), frame.down(point.low), frame.down(point.high));
    }
    fmt::format_to(std::back_inserter(out), "<circle class=\"line-end{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"/>",
                   hue_of(layer.hue), frame.across(point.x), frame.down(middle));
  }
  return out;
}

/// Draws the ticks of both axes, a line across at each tick of the upright one, and the lower axis with its title.
void append_grid(const Chart& chart, const Frame& frame, std::string& out) {
  const auto at = std::back_inserter(out);
  for (const Tick& tick : ticks(frame.ys, 4, false)) {
    fmt::format_to(at,
                   "<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/><text class=\"tick\" x=\"{:.1f}\" "
                   "y=\"{:.1f}\" text-anchor=\"end\">{}</text>",
                   frame.left, frame.down(tick.at), frame.right, frame.left - 5, frame.down(tick.at) + 4, tick.text);
  }
  for (const Tick& tick : ticks(frame.xs, 4, true)) {
    const double x = frame.across(tick.at);
    // A number at either end is aligned with the frame, so that it does not run out of the drawing.
    const char* const anchor = x > frame.right - 14 ? "end" : x < frame.left + 8 ? "start" : "middle";
    fmt::format_to(at,
                   "<path class=\"grid\" d=\"M{0:.1f} {1:.1f}v4\"/><text class=\"tick\" x=\"{0:.1f}\" y=\"{2:.1f}\" "
                   "text-anchor=\"{3}\">{4}</text>",
                   x, frame.bottom, frame.bottom + 16, anchor, tick.text);
  }
  fmt::format_to(at, "<path class=\"axis\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", frame.left, frame.bottom, frame.right);
  if (chart.x.title.empty()) return;
  fmt::format_to(at, "<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", frame.right,
                 frame.bottom + 33, escaped(chart.x.title));
}

/// Draws the layers in their order: the later ones lie over the earlier ones.
void append_layers(const Chart& chart, const Frame& frame, std::string_view id, std::string& out) {
  fmt::format_to(std::back_inserter(out), "<g clip-path=\"url(#{}-clip)\">", id);
  for (const Layer& layer : chart.layers) {
    // Measurements are not joined: nothing is known between them.
    if (layer.mark == Mark::dots) {
      out += dots_of(layer, frame);
      continue;
    }
    const std::string path = layer.mark == Mark::band ? area_of(layer.points, frame) : path_of(layer.points, frame);
    if (path.empty()) continue;
    fmt::format_to(std::back_inserter(out), "<path class=\"{}\" d=\"{}\"/>", classes(layer.mark, layer.hue), path);
  }
  out += "</g>";
  // Outside of the clip path, so that a dot at the frame's edge is whole.
  for (const Layer& layer : chart.layers) out += dot_of(layer, frame);
}

/// The room left of the drawing, wide enough for the longest number of the axis at some 6.6 units a letter.
double left_of(const Scale& ys) {
  std::size_t longest = 1;
  for (const Tick& tick : ticks(ys, 4, false)) longest = std::max(longest, tick.text.size());
  return 12 + 6.6 * static_cast<double>(longest);
}

/// The drawing without the element around it, moved down by `top` to leave room for a head.
std::string drawing(const Chart& chart, std::string_view id, double top) {
  const Scale ys = y_scale(chart);
  const Frame frame{left_of(ys), chart.width - 8, top + 8, top + chart.height - 40, x_scale(chart), ys};
  std::string out = spoken(id, chart.title, chart.summary);
  fmt::format_to(std::back_inserter(out),
                 "<clipPath id=\"{}-clip\"><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                 "height=\"{:.1f}\"/></clipPath>",
                 id, frame.left, frame.top, frame.right - frame.left, frame.bottom - frame.top);
  append_grid(chart, frame, out);
  append_layers(chart, frame, id, out);
  return out;
}

}  // namespace

std::string classes(Mark mark, unsigned hue) {
  return std::string(class_of(mark)) + hue_of(hue);
}

std::string spoken(std::string_view id, std::string_view title, std::string_view summary) {
  return fmt::format("<title id=\"{0}-t\">{1}</title><desc id=\"{0}-d\">{2}</desc>", id, escaped(title),
                     escaped(summary));
}

std::string svg(const Chart& chart, std::string_view id) {
  return fmt::format(
      "<svg class=\"chart\" viewBox=\"0 0 {:g} {:g}\" role=\"img\" aria-labelledby=\"{}-t {}-d\">{}</svg>",
      chart.width, chart.height, id, id, drawing(chart, id, 0));
}

std::string svg_file(const Chart& chart) {
  // The title of the chart, and below it that of the upright axis.
  const double head = chart.y.title.empty() ? 26 : 44;
  std::string body;
  if (!chart.y.title.empty())
    body = fmt::format("<text class=\"tick\" x=\"12\" y=\"40\">{}</text>\n", escaped(chart.y.title));
  body += drawing(chart, "c", head) + '\n';
  const auto [keys, height] = legend_rows(chart.layers, head + chart.height + 12, chart.width);
  return file_of(chart.title, chart.width, height, body + keys);
}

std::string short_count(double value) {
  const double size = std::fabs(value);
  if (size >= 1e9) return fmt::format("{:.4g} G", value / 1e9);
  if (size >= 1e6) return fmt::format("{:.4g} M", value / 1e6);
  if (size >= 1e4) return fmt::format("{:.4g} k", value / 1e3);
  return fmt::format("{:.6g}", value);
}

}  // namespace nustream::chart
