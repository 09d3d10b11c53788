#include "chart/scale.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace nustream::chart {
namespace {

void add(double value, std::vector<double>& values) {
  if (std::isfinite(value)) values.push_back(value);
}

/// Whether an axis can tell the two apart by the digits of its ticks.
bool is_wide(double low, double high) {
  return high - low > 1e-9 * std::max(std::fabs(low), std::fabs(high)) && high - low > 1e-250;
}

/// A range of one value gets a width, so that there is something to divide by.
Scale with_margin(double low, double high, double share) {
  const double margin = is_wide(low, high) ? share * (high - low) : std::max(std::fabs(high) * 0.1, 1e-9);
  return {low - margin, high + margin};
}

}  // namespace

Scale x_scale(const Chart& chart) {
  std::vector<double> values;
  if (chart.x.from_zero) values.push_back(0);
  for (const Layer& layer : chart.layers) {
    for (const Point& point : layer.points) add(point.x, values);
  }
  if (values.empty()) return {};
  const auto [low, high] = std::ranges::minmax(values);
  return is_wide(low, high) ? Scale{low, high} : with_margin(low, high, 0);
}

Scale y_scale(const Chart& chart) {
  std::vector<double> values;
  std::vector<double> kept;
  if (chart.y.from_zero) kept.push_back(0);
  for (const Layer& layer : chart.layers) {
    const bool band = layer.mark == Mark::band;
    for (const Point& point : layer.points) {
      add(point.low, values);
      if (band) add(point.high, values);
    }
    if (layer.points.empty()) continue;
    add(layer.points.back().low, kept);
    if (band) add(layer.points.back().high, kept);
  }
  if (values.empty()) return {};
  std::ranges::sort(values);
  const std::size_t cut = values.size() / 50;
  kept.push_back(values[cut]);
  kept.push_back(values[values.size() - 1 - cut]);
  const auto [low, high] = std::ranges::minmax(kept);
  Scale scale = with_margin(low, high, 0.08);
  if (chart.y.from_zero) scale.low = 0;
  return scale;
}

std::vector<Tick> ticks(const Scale& scale, std::size_t count, bool counts) {
  const double rough = (scale.high - scale.low) / static_cast<double>(count);
  const double decade = std::pow(10, std::floor(std::log10(rough)));
  const double share = rough / decade;
  const double step = decade * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10);
  const int decimals = static_cast<int>(std::clamp(-std::floor(std::log10(step) + 1e-9), 0.0, 12.0));
  const double largest = std::max(std::fabs(scale.low), std::fabs(scale.high));
  std::vector<Tick> found;
  for (double at = std::ceil(scale.low / step - 1e-9) * step; at <= scale.high + 1e-9 * step; at += step) {
    const double value = std::fabs(at) < 1e-9 * step ? 0 : at;
    const bool plain = largest < 1e6 && decimals <= 6;
    found.push_back({value, counts  ? short_count(value)
                            : plain ? fmt::format("{:.{}f}", value, decimals)
                                    : fmt::format("{:.4g}", value)});
    if (found.size() > 20) break;  // of a range that rounding makes endless
  }
  return found;
}

}  // namespace nustream::chart
