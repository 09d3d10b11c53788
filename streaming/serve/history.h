// The published past of one epoch of a lane, thinned to what a chart can show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "nustream/base/units.h"
#include "publish/release_json.h"

namespace nustream::serve {

/// One release as a chart needs it. Vectors are in the order of History::features(), or empty where the release has
/// none of that kind.
struct HistoryPoint {
  std::uint64_t step = 0;
  double rho = 0;
  double epsilon = 0;
  std::vector<double> estimate{};
  std::vector<double> average{};
  std::vector<double> lower{};
  std::vector<double> upper{};

  friend bool operator==(const HistoryPoint&, const HistoryPoint&) = default;
};

/// Steps are cut into spans of equal width, and the last release of each span is kept. The width is the cadence times
/// the smallest power of two with which no more than points_max() spans hold a release. So what is kept is a function
/// of the set of releases alone: not of the batches that they came in, of their order, nor of restarts.
///
/// At most 32,768 numbers, or 16 points where a release has more than 2,048 of them.
class History {
 public:
  /// `cadence`: steps between releases, at least 1.
  explicit History(StepCount cadence);

  /// Whole lines of releases of one lane and epoch, which are public. At most 2·points_max() of them are parsed,
  /// however many there are; lines that are none are left out.
  void add(std::string_view lines);
  /// One point, of what is public but no release: a combined model.
  void add(const publish::ShownRelease& release);

  /// Steps of a span.
  [[nodiscard]] std::uint64_t width() const noexcept { return width_; }
  /// 512 before the first release.
  [[nodiscard]] std::size_t points_max() const noexcept { return points_max_; }
  [[nodiscard]] const std::vector<std::string>& features() const noexcept { return features_; }
  /// By span, in the order of steps.
  [[nodiscard]] const std::map<std::uint64_t, HistoryPoint>& points() const noexcept { return points_; }

 private:
  void name_features(const publish::ShownRelease& first);
  void keep(const publish::ShownRelease& release);
  void widen();

  std::uint64_t width_;
  std::size_t points_max_;
  std::vector<std::string> features_;
  std::map<std::uint64_t, HistoryPoint> points_;
};

/// {"step":…,"rho":…,"epsilon":…,"estimate":[…],"average":[…]|null,"lower":[…]|null,"upper":[…]|null}: numbers have
/// six significant digits, a chart's precision; null where JSON has no number.
void append_point(const HistoryPoint& point, std::string& out);

}  // namespace nustream::serve
