// A line chart as SVG, from the same numbers as a figure's JSON.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace nustream::benchmarks {

struct Point {
  double x;
  double y;
  double error = 0;  ///< standard error of y
};

struct Series {
  std::string name;
  std::vector<Point> points;
  bool points_only = false;  ///< rings without a line: measurements that lie on another series
};

struct Axis {
  std::string title;
  bool logarithmic = false;
};

/// 800 × 440, readable on light and dark pages alike.
class Chart {
 public:
  Chart(std::string title, Axis x, Axis y, std::vector<Series> series)
      : title_(std::move(title)), x_(std::move(x)), y_(std::move(y)), series_(std::move(series)) {}

  [[nodiscard]] std::string svg() const {
    const Range xs = range(x_, [](const Point& point, double& low, double& high) {
      low = std::min(low, point.x);
      high = std::max(high, point.x);
    });
    const Range ys = range(y_, [](const Point& point, double& low, double& high) {
      low = std::min(low, point.y - point.error);
      high = std::max(high, point.y + point.error);
    });
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 440\" font-family=\"sans-serif\" "
        "font-size=\"13\">\n"
        "<rect width=\"800\" height=\"440\" fill=\"#ffffff\"/>\n<text x=\"72\" y=\"24\" font-size=\"15\" "
        "font-weight=\"bold\">{}</text>\n",
        title_);
    grid(xs, ys, out);
    for (std::size_t i = 0; i < series_.size(); ++i) draw(i, xs, ys, out);
    return out + "</svg>\n";
  }

  bool write(const std::string& file) const {
    std::FILE* out = std::fopen(file.c_str(), "w");
    if (out == nullptr) return false;
    fmt::print(out, "{}", svg());
    return std::fclose(out) == 0;
  }

 private:
  static constexpr double left = 72;
  static constexpr double right = 530;
  static constexpr double top = 44;
  static constexpr double bottom = 388;
  static constexpr const char* colours[] = {"#0b6e99", "#c2410c", "#4d7c0f", "#7e22ce",
                                            "#b91c1c", "#475569", "#0f766e"};

  struct Range {
    double low, high;
    bool logarithmic;
    [[nodiscard]] double share(double value) const {
      if (logarithmic) return (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low));
      return (value - low) / (high - low);
    }
  };

  template <class Widen>
  [[nodiscard]] Range range(const Axis& axis, const Widen& widen) const {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const Series& series : series_) {
      for (const Point& point : series.points) widen(point, low, high);
    }
    if (axis.logarithmic) return {low / 1.2, high * 1.2, true};
    const double margin = high > low ? 0.06 * (high - low) : 0.5;
    return {low >= 0 && low < 0.4 * high ? 0 : low - margin, high + margin, false};
  }

  static double across(const Range& xs, double x) { return left + (right - left) * xs.share(x); }
  static double down(const Range& ys, double y) { return bottom - (bottom - top) * ys.share(y); }

  static std::vector<double> ticks(const Range& range) {
    std::vector<double> at;
    if (range.logarithmic) {
      const bool few = std::log10(range.high / range.low) < 2;
      for (double decade = std::pow(10, std::floor(std::log10(range.low))); decade <= range.high; decade *= 10) {
        for (const double step : {1.0, 2.0, 5.0}) {
          if (!few && step > 1) continue;
          if (decade * step >= range.low && decade * step <= range.high) at.push_back(decade * step);
        }
      }
      return at;
    }
    const double rough = (range.high - range.low) / 6;
    const double decade = std::pow(10, std::floor(std::log10(rough)));
    const double step = decade * (rough / decade < 1.5   ? 1
                                  : rough / decade < 3.5 ? 2
                                  : rough / decade < 7.5 ? 5
                                                         : 10);
    for (double value = std::ceil(range.low / step) * step; value <= range.high; value += step) {
      at.push_back(std::fabs(value) < 1e-12 * step ? 0 : value);
    }
    return at;
  }

  void grid(const Range& xs, const Range& ys, std::string& out) const {
    for (const double x : ticks(xs)) {
      out += fmt::format(
          "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" stroke=\"#e2e8f0\"/><text x=\"{0:.1f}\" "
          "y=\"406\" "
          "text-anchor=\"middle\">{3:.3g}</text>\n",
          across(xs, x), top, bottom, x);
    }
    for (const double y : ticks(ys)) {
      out += fmt::format(
          "<line x1=\"{1}\" y1=\"{0:.1f}\" x2=\"{2}\" y2=\"{0:.1f}\" stroke=\"#e2e8f0\"/><text x=\"66\" "
          "y=\"{3:.1f}\" "
          "text-anchor=\"end\">{4:.3g}</text>\n",
          down(ys, y), left, right, down(ys, y) + 4, y);
    }
    out += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#334155\"/>\n<text x=\"{}\" "
        "y=\"428\" "
        "text-anchor=\"middle\">{}</text>\n<text transform=\"translate(18 {}) rotate(-90)\" "
        "text-anchor=\"middle\">{}</text>\n",
        left, top, right - left, bottom - top, (left + right) / 2, x_.title, (top + bottom) / 2, y_.title);
  }

  void draw(std::size_t index, const Range& xs, const Range& ys, std::string& out) const {
    const Series& series = series_[index];
    const char* const colour = colours[index % std::size(colours)];
    std::string path;
    for (const Point& point : series.points) {
      const double x = across(xs, point.x);
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", x, down(ys, point.y));
      const double low = ys.logarithmic ? std::max(point.y - point.error, ys.low) : point.y - point.error;
      const char* const fill = series.points_only ? "#ffffff" : colour;
      out += fmt::format(
          "<line x1=\"{0:.1f}\" y1=\"{2:.1f}\" x2=\"{0:.1f}\" y2=\"{3:.1f}\" stroke=\"{4}\"/><circle cx=\"{0:.1f}\" "
          "cy=\"{1:.1f}\" r=\"{6}\" fill=\"{5}\" stroke=\"{4}\"/>\n",
          x, down(ys, point.y), down(ys, low), down(ys, point.y + point.error), colour, fill,
          series.points_only ? 5 : 3);
    }
    const double y = top + 14 + 22 * static_cast<double>(index);
    out += fmt::format(
        "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"/>\n<line x1=\"544\" y1=\"{:.1f}\" "
        "x2=\"564\" "
        "y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"3\"/><text x=\"570\" y=\"{:.1f}\">{}</text>\n",
        path, colour, series.points_only ? 0 : 1.6, y - 4, y - 4, colour, y, series.name);
  }

  std::string title_;
  Axis x_, y_;
  std::vector<Series> series_;
};

}  // namespace nustream::benchmarks
