// The path of a run's main coefficient, for the line that an operator's terminal shows.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "chart/text.h"
#include "publish/release_json.h"

namespace nustream::console {

/// The index of the coefficient that is shown where only one has room: the first that is not the intercept.
[[nodiscard]] std::size_t main_coefficient(const publish::ShownRelease& release);

/// Keeps as many of the coefficient's quoted values as a line can show, spread over the whole path.
class MainPath {
 public:
  void add(const publish::ShownRelease& release);
  /// "  price 1.2345 ▁▂▄▆█  rho 0.4987" in at most `room` letters. Where room is short the sparkline is left out
  /// first, then the spend, then everything.
  [[nodiscard]] std::string shown(std::size_t room, bool unicode) const;

 private:
  std::string name_;
  std::vector<double> values_;
  std::size_t stride_ = 1;  // one of `stride_` values is kept
  std::size_t left_out_ = 0;
  double last_ = 0;
  double rho_ = 0;
};

}  // namespace nustream::console
