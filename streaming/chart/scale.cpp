// Ranges and ticks of axes. Values that are not finite are left out everywhere; the functions have to give a range of
// some width for any input, since positions are found by a division by it.
#include "chart/scale.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace nustream::chart {
namespace {

/// Adds a value if it is finite.
void add(double value, std::vector<double>& values) {
  if (std::isfinite(value)) values.push_back(value);
}

/// Whether the mark has a value at `high` as well.
bool has_two_ends(Mark mark) {
  return mark == Mark::band || mark == Mark::dots;
}

/// Whether the digits of an axis's ticks can distinguish the two values.
bool is_wide(double low, double high) {
  return high - low > 1e-9 * std::max(std::fabs(low), std::fabs(high)) && high - low > 1e-250;
}

/// The range with a margin of `share` of it on both sides. A range of one value gets some width, so that share()
/// divides by no 0.
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
  if (chart.x.logarithmic) return log_scale(values, 1);
  if (values.empty()) return {};
  const auto [low, high] = std::ranges::minmax(values);
  // Without a margin, so that the first and the last value stand at the edges.
  return is_wide(low, high) ? Scale{low, high} : with_margin(low, high, 0);
}

Scale y_scale(const Chart& chart) {
  std::vector<double> values;
  std::vector<double> kept;
  if (chart.y.from_zero) kept.push_back(0);
  for (const Layer& layer : chart.layers) {
    const bool band = has_two_ends(layer.mark);
    for (const Point& point : layer.points) {
      add(point.low, values);
      if (band) add(point.high, values);
    }
    if (layer.points.empty()) continue;
    add(layer.points.back().low, kept);
    if (band) add(layer.points.back().high, kept);
  }
  if (chart.y.logarithmic) return log_scale(values, 1.15);
  if (values.empty()) return {};
  std::ranges::sort(values);
  // One value in fifty may be cut off at either end. The last value of a layer never is, because the reader looks for
  // it.
  const std::size_t cut = values.size() / 50;
  kept.push_back(values[cut]);
  kept.push_back(values[values.size() - 1 - cut]);
  const auto [low, high] = std::ranges::minmax(kept);
  Scale scale = with_margin(low, high, 0.08);
  if (chart.y.from_zero) scale.low = 0;
  return scale;
}

Scale log_scale(const std::vector<double>& values, double margin) {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (const double value : values) {
    if (!std::isfinite(value) || value < 1e-280) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (!(high > 0)) return {1, 10, true};
  // Values that hardly differ would make a range of no width.
  if (!(high > low * 1.001)) margin = std::max(margin, 2.0);
  // Below the largest double even after the margin is multiplied in.
  return {low / margin, std::min(high, 1e290) * margin, true};
}

namespace {

/// A tick's number: a count in short form, such as "12.3 k", or three digits.
std::string tick_text(double value, bool counts) {
  return counts ? short_count(value) : fmt::format("{:.3g}", value);
}

/// Ticks at powers of ten, so far apart that there are at most about `count`. Where the range spans less than two
/// decades, 2 and 5 times the powers are ticks as well.
std::vector<Tick> log_ticks(const Scale& scale, std::size_t count, bool counts) {
  const double first = std::floor(std::log10(scale.low));
  const double decades = std::log10(scale.high / scale.low);
  // For example from 1e-8 to 0.6 with four ticks: 1e-08, 1e-06, 0.0001 and 0.01.
  const double apart = std::max(1.0, std::ceil(decades / (static_cast<double>(count) + 1)));
  std::vector<Tick> found;
  for (double power = first; power <= std::log10(scale.high) + 1e-9; power += apart) {
    for (const double times : {1.0, 2.0, 5.0}) {
      if (times > 1 && decades >= 2) break;
      const double value = std::pow(10, power) * times;
      if (value < scale.low * (1 - 1e-9) || value > scale.high * (1 + 1e-9)) continue;
      found.push_back({value, tick_text(value, counts)});
    }
  }
  return found;
}

}  // namespace

std::vector<Tick> ticks(const Scale& scale, std::size_t count, bool counts) {
  if (scale.logarithmic) {
    std::vector<Tick> found = log_ticks(scale, count, counts);
    // One power of ten, or none, lies in the range. Then it gets the ticks of a linear axis.
    if (found.size() > 1) return found;
  }
  // The distance that would give exactly `count` ticks is rounded to 1, 2, 5 or 10 times a power of ten; 1.5, 3.5 and
  // 7.5 are halfway between these.
  const double rough = (scale.high - scale.low) / static_cast<double>(count);
  const double decade = std::pow(10, std::floor(std::log10(rough)));
  const double share = rough / decade;
  // For example from 0 to 10 with four ticks: 2.5 becomes 2, and the ticks are 0, 2, 4, 6, 8 and 10.
  const double step = decade * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10);
  const int decimals = static_cast<int>(std::clamp(-std::floor(std::log10(step) + 1e-9), 0.0, 12.0));
  const double largest = std::max(std::fabs(scale.low), std::fabs(scale.high));
  std::vector<Tick> found;
  for (double at = std::ceil(scale.low / step - 1e-9) * step; at <= scale.high + 1e-9 * step; at += step) {
    // Rounding would otherwise show a tick at 0 as 1.39e-17, or as -0.
    const double value = std::fabs(at) < 1e-9 * step ? 0 : at;
    const bool plain = largest < 1e6 && decimals <= 6;
    found.push_back({value, counts  ? short_count(value)
                            : plain ? fmt::format("{:.{}f}", value, decimals)
                                    : fmt::format("{:.4g}", value)});
    if (found.size() > 20) break;  // rounding can make the steps of a tiny range endless
  }
  return found;
}

}  // namespace nustream::chart
