// Draws a figure's numbers as a line chart, with the code that draws the service's own charts (streaming/chart).
#pragma once

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "chart/chart.h"

namespace nustream::benchmarks {

struct Point {
  double x;
  double y;
  double error = 0;  ///< standard error of y
};

struct Series {
  std::string name;
  std::vector<Point> points;
  bool points_only = false;  ///< dots without a line: measurements that lie on another series
  bool is_theory = false;    ///< a thin line behind the others, without dots: what a formula says
};

struct Axis {
  std::string title;
  bool logarithmic = false;
};

using Picture = chart::Chart;

/// Draws each series as a line with a dot for each point, and a bar for its standard error, and theory behind them.
inline Picture line_chart(std::string title, Axis x, Axis y, const std::vector<Series>& series) {
  std::vector<chart::Layer> layers;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  unsigned hue = 0;
  for (const Series& one : series) {
    if (one.is_theory) {
      chart::Layer thin{one.name, chart::Mark::faint, {}, hue++};
      for (const Point& point : one.points) thin.points.push_back({point.x, point.y, 0});
      layers.insert(layers.begin(), std::move(thin));
      continue;
    }
    chart::Layer line{one.points_only ? std::string() : one.name, chart::Mark::line, {}, hue};
    chart::Layer dots{one.points_only ? one.name : std::string(), chart::Mark::dots, {}, hue};
    for (const Point& point : one.points) {
      if (!one.points_only) line.points.push_back({point.x, point.y, 0});
      dots.points.push_back({point.x, point.y - point.error, point.y + point.error});
      low = std::min(low, point.y - point.error);
      high = std::max(high, point.y + point.error);
    }
    layers.push_back(std::move(line));
    layers.push_back(std::move(dots));
    ++hue;
  }
  return {.title = std::move(title),
          .summary = fmt::format("{} series over {}.", series.size(), x.title),
          .x = {.title = x.title, .logarithmic = x.logarithmic},
          .y = {.title = y.title, .from_zero = low >= 0 && low < 0.4 * high, .logarithmic = y.logarithmic},
          .layers = std::move(layers),
          .width = 720,
          .height = 360};
}

inline bool write_svg(const Picture& picture, const std::string& file) {
  std::FILE* out = std::fopen(file.c_str(), "w");
  if (out == nullptr) return false;
  fmt::print(out, "{}", chart::svg_file(picture));
  return std::fclose(out) == 0;
}

}  // namespace nustream::benchmarks
