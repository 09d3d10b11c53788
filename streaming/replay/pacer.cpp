// Sleeps between rows. The pace follows recorded times, which only the settings may declare public, since the times
// of steps are seen by everybody.
#include "replay/pacer.h"

#include <algorithm>
#include <cmath>
#include <thread>

namespace nustream::replay {

void Pacer::wait_for(double time) {
  constexpr double hold_seconds_max = 1.0;
  if (!factor_ || std::isnan(time)) return;
  const auto now = std::chrono::steady_clock::now();
  // The first row is due at once, and the others are counted from it.
  if (!previous_time_) {
    previous_time_ = time;
    due_ = now;
    return;
  }
  // A time that goes back, or a long gap, must not stop the stream: at most a second is waited for a row.
  const double gap = std::clamp((time - *previous_time_) / *factor_, 0.0, hold_seconds_max);
  previous_time_ = time;
  // A run that fell behind its pace, for example in a slow commit, catches up by a second at most.
  due_ = std::max(
      due_ + std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(gap)),
      now - std::chrono::seconds(1));
  if (due_ > now) std::this_thread::sleep_until(due_);
}

}  // namespace nustream::replay
