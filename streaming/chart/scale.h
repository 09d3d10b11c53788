// From values to places: the range of an axis and its ticks.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "chart/chart.h"

namespace nustream::chart {

struct Scale {
  double low = 0;
  double high = 1;
  bool logarithmic = false;  ///< then low > 0
  /// 0 at `low`, 1 at `high`.
  [[nodiscard]] double share(double value) const {
    return logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  }
  /// Whether it has a place: all numbers, or those above 0.
  [[nodiscard]] bool has(double value) const { return std::isfinite(value) && (!logarithmic || value > 0); }
};

struct Tick {
  double at;
  std::string text;
};

/// All x that any layer has.
[[nodiscard]] Scale x_scale(const Chart& chart);
/// What 96% of the values lie in, the last ones of each layer included, with a margin; all of them where the axis is
/// logarithmic.
[[nodiscard]] Scale y_scale(const Chart& chart);

/// From the smallest to the largest of `values`, those without a place left out; with a margin.
[[nodiscard]] Scale log_scale(const std::vector<double>& values, double margin);

/// About `count` of them, at 1, 2 or 5 times a power of ten, with as many decimals as tell them apart; on a
/// logarithmic scale at powers of ten, with the 2 and 5 between where there are few.
[[nodiscard]] std::vector<Tick> ticks(const Scale& scale, std::size_t count, bool counts);

}  // namespace nustream::chart
