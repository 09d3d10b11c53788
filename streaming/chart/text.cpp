// Charts as letters, for a terminal. Each layer is drawn into a grid of cells, column by column, where its points are
// joined by straight lines; later layers lie over earlier ones. Text is UTF-8 or, where the terminal has no other
// letters, ASCII.
#include "chart/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "chart/scale.h"

namespace nustream::chart {
namespace {

constexpr std::array<std::string_view, 8> unicode_levels{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view ascii_levels = "_.-=+*#@";
constexpr std::array<std::string_view, hues> unicode_lines{"●", "○", "◆", "◇", "▲", "△", "■"};
constexpr std::array<std::string_view, hues> ascii_lines{"*", "o", "+", "x", "#", "%", "@"};
constexpr std::array<int, hues> colours_of_hues{36, 33, 32, 35, 31, 37, 34};  // SGR codes of foreground colours

/// One place of the drawing: a letter and the SGR code of its colour, where 0 is the terminal's own.
struct Cell {
  std::string_view letter = " ";
  int colour = 0;
};

/// The cells of a drawing.
class Grid {
 public:
  Grid(std::size_t columns, std::size_t rows) : columns_(columns), rows_(rows), cells_(columns * rows) {}
  [[nodiscard]] std::size_t columns() const noexcept { return columns_; }
  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  /// The cell at a column and a row; row 0 is the top.
  Cell& at(std::size_t column, std::size_t row) { return cells_[row * columns_ + column]; }

  [[nodiscard]] std::string line(std::size_t row, bool colour) const {
    std::string out;
    int now = 0;
    for (std::size_t column = 0; column < columns_; ++column) {
      const Cell& cell = cells_[row * columns_ + column];
      // A sequence is written only where the colour changes.
      if (colour && cell.colour != now) out += cell.colour == 0 ? "\x1b[0m" : fmt::format("\x1b[{}m", cell.colour);
      now = cell.colour;
      out += cell.letter;
    }
    if (colour && now != 0) out += "\x1b[0m";
    return out;
  }

 private:
  std::size_t columns_, rows_;
  std::vector<Cell> cells_;
};

/// The letter and colour of a layer. Each hue has a letter of its own, so that layers differ without colour.
Cell cell_of(const Layer& layer, const TextStyle& style) {
  const std::size_t hue = layer.hue % hues;
  const int colour = layer.mark == Mark::faint ? 0 : colours_of_hues[hue];
  if (layer.mark == Mark::band) return {style.unicode ? "░" : ":", colour};
  if (layer.mark == Mark::faint) return {style.unicode ? "·" : ".", 0};
  return {style.unicode ? unicode_lines[hue] : ascii_lines[hue], colour};
}

/// The values of a layer at the middle of each column, where its points are joined by straight lines.
class Along {
 public:
  Along(const Layer& layer, const Scale& xs, const Scale& ys) : layer_(layer), xs_(xs), ys_(ys) {}

  /// The layer's low and high value at a share of the width, as shares of the height; NaN where it has none.
  [[nodiscard]] std::pair<double, double> at(double share) const {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    const auto& points = layer_.points;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!xs_.has(points[i].x)) continue;
      const double here = xs_.share(points[i].x);
      // At a point, or in front of the first one: the point's own values. Columns and points rarely fall together
      // exactly.
      if (here >= share - 1e-9 && (i == 0 || here < share + 1e-9)) return place(points[i]);
      if (i + 1 == points.size() || !xs_.has(points[i + 1].x)) continue;
      const double next = xs_.share(points[i + 1].x);
      if (share < here || share > next + 1e-9) continue;
      const auto [low, high] = place(points[i]);
      const auto [low_next, high_next] = place(points[i + 1]);
      // Two points at one place have no line between them: the later one counts.
      const double part = next > here ? (share - here) / (next - here) : 1;
      return {low + part * (low_next - low), high + part * (high_next - high)};
    }
    return {none, none};
  }

 private:
  [[nodiscard]] std::pair<double, double> place(const Point& point) const {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    return {ys_.has(point.low) ? ys_.share(point.low) : none, ys_.has(point.high) ? ys_.share(point.high) : none};
  }
  const Layer& layer_;
  const Scale& xs_;
  const Scale& ys_;
};

/// The row that a share of the height falls into, counted from the bottom; empty outside of the drawing.
std::optional<std::size_t> row_of(double share, std::size_t rows) {
  // Also for NaN, which no comparison holds for.
  if (!(share >= -1e-9 && share <= 1 + 1e-9)) return std::nullopt;
  return std::min(rows - 1, static_cast<std::size_t>(std::max(0.0, share) * static_cast<double>(rows)));
}

/// Draws a layer into the grid: a band as all cells between its ends, every other mark as one cell a column.
void draw(const Layer& layer, const Scale& xs, const Scale& ys, const TextStyle& style, Grid& grid) {
  const Cell cell = cell_of(layer, style);
  const Along along(layer, xs, ys);
  for (std::size_t column = 0; column < grid.columns(); ++column) {
    const double share =
        static_cast<double>(column) / static_cast<double>(std::max<std::size_t>(1, grid.columns() - 1));
    const auto [low, high] = along.at(share);
    if (layer.mark == Mark::band) {
      // A part of a band that lies outside is cut at the edge; a band that lies outside as a whole is left out.
      if (!std::isfinite(low) || !std::isfinite(high) || high < 0 || low > 1) continue;
      const std::size_t from = *row_of(std::clamp(low, 0.0, 1.0), grid.rows());
      const std::size_t to = *row_of(std::clamp(high, 0.0, 1.0), grid.rows());
      for (std::size_t row = from; row <= to; ++row) grid.at(column, grid.rows() - 1 - row) = cell;
      continue;
    }
    const double value = layer.mark == Mark::dots ? (low + high) / 2 : low;
    if (const auto row = row_of(value, grid.rows())) grid.at(column, grid.rows() - 1 - *row) = cell;
  }
}

/// The line of ticks below the drawing, each about under its place. A tick that would touch the one before is left
/// out.
std::string lower_axis(const Chart& chart, const Scale& xs, std::size_t left, std::size_t columns) {
  std::string line(left, ' ');
  std::size_t used = 0;
  // ν is the one thing on this axis that is no count.
  for (const Tick& tick : ticks(xs, std::max<std::size_t>(2, columns / 16), chart.x.title != "nu")) {
    const double share = std::clamp(xs.share(tick.at), 0.0, 1.0);
    const auto middle = static_cast<std::size_t>(share * static_cast<double>(columns - 1));
    std::size_t at = middle > tick.text.size() / 2 ? middle - tick.text.size() / 2 : 0;
    if (at + tick.text.size() > columns) at = columns - std::min(columns, tick.text.size());
    // At least one blank between two numbers, or they would read as one.
    if (used > 0 && at < used + 1) continue;
    line.append(at - std::min(at, used), ' ');
    line += tick.text;
    used = at + tick.text.size();
  }
  return line + '\n';
}

/// A line for each named layer that is drawn: its letter and its name.
std::string keys(const Chart& chart, const TextStyle& style) {
  std::string out;
  for (const Layer& layer : chart.layers) {
    const bool is_empty =
        std::ranges::none_of(layer.points, [](const Point& each) { return std::isfinite(each.low); });
    if (layer.name.empty() || is_empty) continue;
    const Cell cell = cell_of(layer, style);
    const std::string name = fitted(layer.name, style.columns - 6, style.unicode);
    out += style.colour && cell.colour != 0 ? fmt::format("  \x1b[{}m{}\x1b[0m {}\n", cell.colour, cell.letter, name)
                                            : fmt::format("  {} {}\n", cell.letter, name);
  }
  return out;
}

/// At most `width` of the values: where there are more, the last one of each of `width` equal pieces.
std::vector<double> thinned(std::span<const double> values, std::size_t width) {
  if (values.size() <= width) return {values.begin(), values.end()};
  std::vector<double> kept;
  // Of 100 values in 10 letters, these are the 10th, 20th … 100th.
  for (std::size_t i = 1; i <= width; ++i) kept.push_back(values[i * values.size() / width - 1]);
  return kept;
}

}  // namespace

std::size_t letters(std::string_view text) {
  // In UTF-8, all bytes of a letter but the first begin with the bits 10.
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string fitted(std::string_view text, std::size_t width, bool unicode) {
  std::string out;
  std::size_t count = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool begins = (byte & 0xC0U) != 0x80U;
    // Bytes that go on with a letter are never cut off from it.
    if (begins && count == width) break;
    if (begins) ++count;
    // A control character in a name could move the cursor, or worse.
    if (byte < 0x20 || byte == 0x7f) {
      out += '?';
    } else if (byte < 0x80 || unicode) {
      out += c;
    } else if (begins) {
      out += '?';
    }
  }
  return out;
}

std::string sparkline(std::span<const double> values, std::size_t width, bool unicode) {
  if (width == 0) return {};
  const std::vector<double> kept = thinned(values, width);
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const double value : kept) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  std::string out;
  for (const double value : kept) {
    if (!std::isfinite(value)) {
      out += ' ';
      continue;
    }
    const double span = high / 8 - low / 8;  // eighths, whose difference is finite even at the ends of the range
    const double share = span > 0 ? (value / 8 - low / 8) / span : 0.5;
    // The values 1, 2 and 3 become ▁, ▅ and █.
    const auto level = std::min<std::size_t>(7, static_cast<std::size_t>(share * 8));
    out += unicode ? unicode_levels[level] : ascii_levels.substr(level, 1);
  }
  return out;
}

std::string text_of(const Chart& chart, const TextStyle& asked) {
  TextStyle style = asked;
  style.columns = std::max<std::size_t>(style.columns, 40);
  const Scale xs = x_scale(chart);
  const Scale ys = y_scale(chart);
  const std::vector<Tick> upright = ticks(ys, std::max<std::size_t>(2, style.rows / 3), false);
  std::size_t left = 1;
  for (const Tick& tick : upright) left = std::max(left, tick.text.size());
  // Left of the grid are the numbers of the axis, a blank and the axis itself; one column at the right stays free.
  Grid grid(style.columns - left - 3, style.rows);
  for (const Layer& layer : chart.layers) draw(layer, xs, ys, style, grid);
  std::string out = fitted(chart.title, style.columns - 1, style.unicode) + '\n';
  if (!chart.y.title.empty()) out += fitted(chart.y.title, style.columns - 1, style.unicode) + '\n';
  for (std::size_t row = 0; row < style.rows; ++row) {
    // A number stands at the row that its value falls into.
    const auto tick = std::ranges::find_if(upright, [&](const Tick& each) {
      return row_of(ys.share(each.at), style.rows) == std::optional(style.rows - 1 - row);
    });
    out += fmt::format("{:>{}} {}{}\n", tick == upright.end() ? "" : tick->text, left, style.unicode ? "│" : "|",
                       grid.line(row, style.colour));
  }
  out += std::string(left + 1, ' ') + (style.unicode ? "└" : "+");
  for (std::size_t i = 0; i < grid.columns(); ++i) out += style.unicode ? "─" : "-";
  out += '\n' + lower_axis(chart, xs, left + 2, grid.columns());
  if (!chart.x.title.empty()) {
    const std::string title = fitted(chart.x.title, grid.columns(), style.unicode);
    out += std::string(left + 2 + grid.columns() - letters(title), ' ') + title + '\n';
  }
  return out + keys(chart, style);
}

}  // namespace nustream::chart
