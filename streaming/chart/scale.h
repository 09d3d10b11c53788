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
  bool logarithmic = false;  ///< `low` is then above 0
  /// Where the value lies: 0 at `low`, 1 at `high`.
  [[nodiscard]] double share(double value) const {
    return logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  }
  /// Whether the value has a place on the axis: it is finite, and above 0 where the axis is logarithmic.
  [[nodiscard]] bool has(double value) const { return std::isfinite(value) && (!logarithmic || value > 0); }
};

struct Tick {
  double at;
  std::string text;
};

/// The range of all x of all layers.
[[nodiscard]] Scale x_scale(const Chart& chart);
/// A range, with a margin, that holds 96% of the values and the last ones of each layer; where the axis is
/// logarithmic, it holds all values.
[[nodiscard]] Scale y_scale(const Chart& chart);

/// A logarithmic range from the smallest to the largest of `values`, each extended by the factor `margin`. Values
/// that a logarithmic axis cannot show are left out.
[[nodiscard]] Scale log_scale(const std::vector<double>& values, double margin);

/// About `count` ticks at 1, 2 or 5 times a power of ten, with as many decimals as distinguish them. A logarithmic
/// scale has them at powers of ten, and also at 2 and 5 times those where the powers alone would be few.
[[nodiscard]] std::vector<Tick> ticks(const Scale& scale, std::size_t count, bool counts);

}  // namespace nustream::chart
