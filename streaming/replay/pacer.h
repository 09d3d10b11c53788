// --speed: plays a recorded stream at a multiple of the pace at which it was recorded.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace nustream::replay {

/// Holds rows back until their recorded time has come. It is only for streams whose times the settings declare
/// public. A row is held back for at most a second, and not at all if its time is missing or behind, so that no
/// record can stop the stream.
class Pacer {
 public:
  /// `factor` is the multiple of the recorded pace; without it no row is held back.
  explicit Pacer(std::optional<double> factor) : factor_(factor) {}

  [[nodiscard]] bool active() const noexcept { return factor_.has_value(); }
  /// Sleeps until the row recorded at `time` (seconds since the epoch; NaN: unknown) is due.
  void wait_for(double time);

 private:
  std::optional<double> factor_;
  std::optional<double> previous_time_;
  std::chrono::steady_clock::time_point due_;
};

}  // namespace nustream::replay
