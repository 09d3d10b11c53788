// From values to places: the range of an axis and its ticks.
#pragma once

#include <string>
#include <vector>

#include "chart/chart.h"

namespace nustream::chart {

struct Scale {
  double low = 0;
  double high = 1;
  [[nodiscard]] double share(double value) const { return (value - low) / (high - low); }
};

struct Tick {
  double at;
  std::string text;
};

/// All x that any layer has.
[[nodiscard]] Scale x_scale(const Chart& chart);
/// What 96% of the values lie in, the last ones of each layer included, with a margin.
[[nodiscard]] Scale y_scale(const Chart& chart);

/// About `count` of them, at 1, 2 or 5 times a power of ten, with as many decimals as tell them apart.
[[nodiscard]] std::vector<Tick> ticks(const Scale& scale, std::size_t count, bool counts);

}  // namespace nustream::chart
