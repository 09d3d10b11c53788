// Numbers side by side: each row has a dot on a common axis, and a bar for its interval. Wide drawings have labels
// beside the rows, narrow ones above them.
#include "chart/rows.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "chart/scale.h"

namespace nustream::chart {
namespace {

constexpr double heading_height = 24;

/// Where rows lie within the drawing.
struct Layout {
  bool beside;  ///< labels stand left of their rows
  double left, right;
  double line;  ///< height of a row's line below the row's top
  double row_height;
  Scale scale;

  [[nodiscard]] double across(double value) const {
    // A value that the axis cannot show lies at its left end.
    const double share = scale.has(value) ? scale.share(value) : 0;
    return left + (right - left) * std::clamp(share, 0.0, 1.0);
  }
};

/// The range that holds all values, interval ends and the mark, with a margin.
Scale scale_of(const Rows& rows) {
  std::vector<double> values;
  if (rows.mark) values.push_back(*rows.mark);
  for (const RowGroup& group : rows.groups) {
    for (const Row& row : group.rows) {
      for (const double value : {row.value, row.low, row.high}) {
        if (std::isfinite(value)) values.push_back(value);
      }
    }
  }
  if (rows.axis.logarithmic) return log_scale(values, 1.2);
  if (values.empty()) return {};
  if (rows.axis.from_zero) values.push_back(0);
  const auto [low, high] = std::ranges::minmax(values);
  const double span = high > low ? high - low : std::max(std::fabs(high), 1e-9);
  return {rows.axis.from_zero && low >= 0 ? 0 : low - 0.05 * span, high + 0.05 * span};
}

/// The places of a row's parts. Without any label, no line is kept for labels above the rows.
Layout layout_of(const Rows& rows) {
  const bool beside = rows.width >= 600;
  const auto has_label = [](const Row& row) { return !row.label.empty(); };
  const bool above = !beside && std::ranges::any_of(rows.groups, [&](const RowGroup& group) {
    return std::ranges::any_of(group.rows, has_label);
  });
  const double line = above ? 27 : 11;
  return {beside, beside ? rows.width * 0.4 : 12, rows.width - (beside ? 76 : 16), line, line + 11, scale_of(rows)};
}

/// The height of all rows and headings, with the room for ticks and the axis's title below them.
double height_of(const Rows& rows, const Layout& layout) {
  double height = 8;
  for (const RowGroup& group : rows.groups) {
    // A heading has a line of its own.
    height +=
        (group.heading.empty() ? 0 : heading_height) + layout.row_height * static_cast<double>(group.rows.size());
  }
  return height + (rows.axis.title.empty() ? 26 : 44);
}

/// The text of a row's value. A row without a value has none.
std::string shown(const Row& row) {
  return !row.shown.empty() || !std::isfinite(row.value) ? row.shown : fmt::format("{:.3g}", row.value);
}

/// Draws the row whose top is at `y`: its text, a thin line from the axis to the dot, the bar, and the dot.
void append_row(const Row& row, const Layout& layout, double y, std::string& out) {
  const auto at = std::back_inserter(out);
  const double line = y + layout.line;
  const std::string hue = classes(Mark::line, row.hue).substr(4);
  fmt::format_to(at, "<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>",
                 layout.beside ? layout.left - 8 : layout.left, layout.beside ? line + 4 : y + 16,
                 layout.beside ? "end" : "start", escaped(row.label));
  fmt::format_to(at, "<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", layout.left, line, layout.right);
  // Where an end is NaN this is false, and no bar is drawn.
  if (layout.scale.has(row.high) && row.high >= row.low) {
    fmt::format_to(at, "<path class=\"bar{}\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", hue, layout.across(row.low), line,
                   layout.across(row.high));
  }
  if (layout.scale.has(row.value)) {
    fmt::format_to(at, "<circle class=\"line-end{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\"/>", hue,
                   layout.across(row.value), line);
  }
  fmt::format_to(at, "<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>",
                 layout.beside ? layout.right + 8 : layout.right, layout.beside ? line + 4 : y + 16,
                 layout.beside ? "start" : "end", escaped(shown(row)));
}

/// Draws the mark beside the line of the row whose top is at `y`. It is short, so that it does not run through the
/// label.
void append_mark(double mark, const Layout& layout, double y, std::string& out) {
  fmt::format_to(std::back_inserter(out), "<path class=\"mark\" d=\"M{:.1f} {:.1f}v18\"/>", layout.across(mark),
                 y + layout.line - 9);
}

/// Draws the ticks with lines through all rows, the axis below, and its title.
void append_axis(const Rows& rows, const Layout& layout, double top, double bottom, std::string& out) {
  const auto at = std::back_inserter(out);
  for (const Tick& tick : ticks(layout.scale, layout.beside ? 6 : 4, false)) {
    const double x = layout.across(tick.at);
    const char* const anchor = layout.beside || (x > 20 && x < layout.right - 4) ? "middle"
                               : x > 20                                          ? "end"
                                                                                 : "start";
    fmt::format_to(at,
                   "<path class=\"grid\" d=\"M{0:.1f} {1:.1f}V{2:.1f}\"/><text class=\"tick\" x=\"{0:.1f}\" "
                   "y=\"{3:.1f}\" text-anchor=\"{4}\">{5}</text>",
                   x, top, bottom + 4, bottom + 18, anchor, tick.text);
  }
  fmt::format_to(at, "<path class=\"axis\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", layout.left, bottom, layout.right);
  if (!rows.axis.title.empty()) {
    fmt::format_to(at, "<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", layout.right,
                   bottom + 36, escaped(rows.axis.title));
  }
}

/// The drawing without the element around it, moved down by `top`.
std::string drawing(const Rows& rows, std::string_view id, double top) {
  const Layout layout = layout_of(rows);
  std::string out = spoken(id, rows.title, rows.summary);
  const double bottom = top + height_of(rows, layout) - (rows.axis.title.empty() ? 26 : 44);
  append_axis(rows, layout, top, bottom, out);
  double y = top + 4;
  for (const RowGroup& group : rows.groups) {
    if (!group.heading.empty()) {
      fmt::format_to(std::back_inserter(out), "<text class=\"name\" x=\"12\" y=\"{:.1f}\">{}</text>", y + 17,
                     escaped(group.heading));
      y += heading_height;
    }
    for (const Row& row : group.rows) {
      if (rows.mark) append_mark(*rows.mark, layout, y, out);
      append_row(row, layout, y, out);
      y += layout.row_height;
    }
  }
  return out;
}

}  // namespace

std::string svg(const Rows& rows, std::string_view id) {
  return fmt::format(
      "<svg class=\"chart\" viewBox=\"0 0 {:g} {:g}\" role=\"img\" aria-labelledby=\"{}-t {}-d\">{}</svg>",
      rows.width, height_of(rows, layout_of(rows)), id, id, drawing(rows, id, 0));
}

std::string svg_file(const Rows& rows) {
  constexpr double head = 30;
  const double bottom = head + height_of(rows, layout_of(rows));
  const auto [keys, height] =
      rows.keys.empty() ? std::pair(std::string(), bottom + 4) : legend_rows(rows.keys, bottom + 12, rows.width);
  return file_of(rows.title, rows.width, height, drawing(rows, "c", head) + '\n' + keys);
}

}  // namespace nustream::chart
