// --speed: a recorded stream at a multiple of the pace at which it was recorded.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace nustream::replay {

/// Holds rows back until their recorded time has come. Only for streams whose times the settings declare public;
/// a time that is missing, behind or far ahead holds a row back for at most a second, so that no record can stop
/// the stream.
class Pacer {
 public:
  /// No `factor`: as fast as it goes.
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
