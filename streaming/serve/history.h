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

/// One release as a chart needs it. The vectors are in the order of History::features(), or empty where the release
/// has no such values.
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

/// Keeps the last release of each span of steps. All spans have the same width: the cadence times the smallest power
/// of two with which at most points_max() spans hold a release. What is kept is therefore a function of the set of
/// releases alone. It does not depend on the batches that they came in, on their order, or on restarts.
///
/// It holds at most 32,768 numbers, or 16 points where a release has more than 2,048 numbers.
class History {
 public:
  /// `cadence` is the number of steps between releases, at least 1.
  explicit History(StepCount cadence);

  /// Adds whole lines of public releases of one lane and epoch. At most 2·points_max() of them are parsed, however
  /// many there are. Lines that are not releases are left out.
  void add(std::string_view lines);
  /// Adds one point that is public but not a release, such as a combined model.
  void add(const publish::ShownRelease& release);

  /// The number of steps in a span.
  [[nodiscard]] std::uint64_t width() const noexcept { return width_; }
  /// The largest number of points; 512 before the first release that has an estimate.
  [[nodiscard]] std::size_t points_max() const noexcept { return points_max_; }
  [[nodiscard]] const std::vector<std::string>& features() const noexcept { return features_; }
  /// The points by span, in the order of steps.
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

/// Writes {"step":…,"rho":…,"epsilon":…,"estimate":[…],"average":[…]|null,"lower":[…]|null,"upper":[…]|null}.
/// Numbers have six significant digits, which is a chart's precision, and are null where JSON has no number for them.
void append_point(const HistoryPoint& point, publish::JsonWriter& json);

}  // namespace nustream::serve
