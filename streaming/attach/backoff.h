// How long a caller whose attempt failed waits before the next one, and when it gives up.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>

namespace nustream::attach {

/// A random time between half of `pause` and all of it, so that lanes that failed at the same moment do not all come
/// back at the same moment.
[[nodiscard]] inline std::chrono::milliseconds jittered(std::chrono::milliseconds pause, std::minstd_rand& random) {
  return std::chrono::milliseconds(
      std::uniform_int_distribution<std::int64_t>(pause.count() / 2, pause.count())(random));
}

/// Pauses that grow with the attempts since the last success: 50 ms at first, doubled each time, at most 5 s, each of
/// them jittered. To be used from one thread.
class Backoff {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void succeeded() {
    trouble_since_.reset();
    attempts_ = 0;
  }
  /// True where every attempt has failed for longer than `patience`. That time begins at the first call of this
  /// function after a success.
  [[nodiscard]] bool gave_up(Time now, std::chrono::milliseconds patience) {
    if (!trouble_since_) trouble_since_ = now;
    return now - *trouble_since_ > patience;
  }
  [[nodiscard]] std::chrono::milliseconds next_pause(std::minstd_rand& random) {
    const std::chrono::milliseconds pause =
        std::min(std::chrono::milliseconds(5'000), std::chrono::milliseconds(50) * (1 << std::min(attempts_, 7U)));
    ++attempts_;
    return jittered(pause, random);
  }

 private:
  std::optional<Time> trouble_since_;
  unsigned attempts_ = 0;
};

}  // namespace nustream::attach
