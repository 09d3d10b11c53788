#include "chart/chart.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "chart/scale.h"

namespace nustream::chart {
namespace {

/// Where the drawing is within the chart.
struct Frame {
  double left, right, top, bottom;
  Scale xs, ys;

  [[nodiscard]] double across(double x) const { return left + (right - left) * xs.share(x); }
  /// Within the frame, or a little outside of it, where it is cut off.
  [[nodiscard]] double down(double y) const { return bottom - (bottom - top) * std::clamp(ys.share(y), -1.0, 2.0); }
};

constexpr std::string_view class_of(Mark mark) {
  switch (mark) {
    case Mark::band:
      return "band";
    case Mark::faint:
      return "faint";
    case Mark::line:
      break;
  }
  return "line";
}

/// A line through the points, in pieces between gaps.
std::string path_of(const std::vector<Point>& points, const Frame& frame) {
  std::string path;
  bool begun = false;
  for (const Point& point : points) {
    if (!std::isfinite(point.low)) {
      begun = false;
      continue;
    }
    fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", begun ? 'L' : 'M', frame.across(point.x),
                   frame.down(point.low));
    begun = true;
  }
  return path;
}

/// Areas between gaps: there along the upper ends, back along the lower ones.
std::string area_of(const std::vector<Point>& points, const Frame& frame) {
  const auto has_ends = [](const Point& point) { return std::isfinite(point.low) && std::isfinite(point.high); };
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

/// A single point is no line: a dot shows it.
std::string dot_of(const Layer& layer, const Frame& frame) {
  if (layer.mark == Mark::band || layer.points.empty() || !std::isfinite(layer.points.back().low)) return {};
  const Point& last = layer.points.back();
  return fmt::format("<circle class=\"{}-end\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/>", class_of(layer.mark),
                     frame.across(last.x), frame.down(last.low), layer.mark == Mark::line ? 3 : 2);
}

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

void append_layers(const Chart& chart, const Frame& frame, std::string_view id, std::string& out) {
  fmt::format_to(std::back_inserter(out), "<g clip-path=\"url(#{}-clip)\">", id);
  for (const Layer& layer : chart.layers) {
    const std::string path = layer.mark == Mark::band ? area_of(layer.points, frame) : path_of(layer.points, frame);
    if (path.empty()) continue;
    fmt::format_to(std::back_inserter(out), "<path class=\"{}\" d=\"{}\"/>", class_of(layer.mark), path);
  }
  out += "</g>";
  for (const Layer& layer : chart.layers) out += dot_of(layer, frame);
}

/// Room for the longest number of the axis, at some 6.5 units a letter.
double left_of(const Scale& ys) {
  std::size_t longest = 1;
  for (const Tick& tick : ticks(ys, 4, false)) longest = std::max(longest, tick.text.size());
  return 12 + 6.6 * static_cast<double>(longest);
}

std::string drawing(const Chart& chart, std::string_view id, double top) {
  const Scale ys = y_scale(chart);
  const Frame frame{left_of(ys), chart.width - 8, top + 8, top + chart.height - 40, x_scale(chart), ys};
  std::string out = fmt::format(
      "<title id=\"{0}-t\">{1}</title><desc id=\"{0}-d\">{2}</desc><clipPath id=\"{0}-clip\"><rect x=\"{3:.1f}\" "
      "y=\"{4:.1f}\" width=\"{5:.1f}\" height=\"{6:.1f}\"/></clipPath>",
      id, escaped(chart.title), escaped(chart.summary), frame.left, frame.top, frame.right - frame.left,
      frame.bottom - frame.top);
  append_grid(chart, frame, out);
  append_layers(chart, frame, id, out);
  return out;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default: {
        const auto byte = static_cast<unsigned char>(c);
        const bool control = (byte < 0x20 && c != '\t' && c != '\n') || byte == 0x7f;
        out += control ? "\xEF\xBF\xBD" : std::string(1, c);
      }
    }
  }
  return out;
}

std::string svg(const Chart& chart, std::string_view id) {
  return fmt::format(
      "<svg class=\"chart\" viewBox=\"0 0 {:g} {:g}\" role=\"img\" aria-labelledby=\"{}-t {}-d\">{}</svg>",
      chart.width, chart.height, id, id, drawing(chart, id, 0));
}

std::string_view colours() {
  return R"(.chart{--line:#0b6e99;--band:#0b6e99;--faint:#64748b;--grid:#e2e8f0;--axis:#94a3b8;--tick:#475569;
font:12px system-ui,sans-serif;display:block;width:100%;height:auto}
.chart .line{fill:none;stroke:var(--line);stroke-width:2;stroke-linejoin:round}
.chart .faint{fill:none;stroke:var(--faint);stroke-width:1;opacity:.55}
.chart .band{fill:var(--band);opacity:.18}
.chart .line-end{fill:var(--line)}
.chart .faint-end{fill:var(--faint);opacity:.7}
.chart .grid{stroke:var(--grid);fill:none}
.chart .axis{stroke:var(--axis);fill:none}
.chart .tick{fill:var(--tick)}
@media (prefers-color-scheme:dark){.chart{--line:#5cc0ea;--band:#5cc0ea;--faint:#94a3b8;--grid:#27354a;--axis:#64748b;--tick:#b6c2d2}}
)";
}

std::string svg_file(const Chart& chart) {
  constexpr double head = 26;
  std::string legend;
  double x = 12;
  const double y = head + chart.height + 12;
  for (const Layer& layer : chart.layers) {
    const std::string_view mark = class_of(layer.mark);
    legend += fmt::format("<path class=\"{}\" d=\"M{} {}h18{}\"/><text class=\"tick\" x=\"{}\" y=\"{}\">{}</text>",
                          mark, x, y - 4, layer.mark == Mark::band ? "v-6h-18z" : "", x + 24, y, escaped(layer.name));
    x += 40 + 6.4 * static_cast<double>(layer.name.size());
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {:g} {:g}\" role=\"img\" "
      "aria-labelledby=\"c-t c-d\">\n<style>{}.chart .ground{{fill:#fff}}.chart .head{{fill:#0f172a;font-weight:600}}"
      "@media (prefers-color-scheme:dark){{.chart .ground{{fill:#0f1724}}.chart .head{{fill:#e6edf5}}}}</style>\n"
      "<rect class=\"ground\" width=\"100%\" height=\"100%\"/><text class=\"head\" x=\"12\" "
      "y=\"20\">{}</text>\n{}\n{}\n"
      "</svg>\n",
      std::max(chart.width, x), head + chart.height + 24, colours(), escaped(chart.title), drawing(chart, "c", head),
      legend);
}

std::string short_count(double value) {
  const double size = std::fabs(value);
  if (size >= 1e9) return fmt::format("{:.4g} G", value / 1e9);
  if (size >= 1e6) return fmt::format("{:.4g} M", value / 1e6);
  if (size >= 1e4) return fmt::format("{:.4g} k", value / 1e3);
  return fmt::format("{:.6g}", value);
}

}  // namespace nustream::chart
