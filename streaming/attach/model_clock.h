// The combined model's own clock: reads committed releases of all lanes, and says when their average has changed.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "attach/lane_state.h"

namespace nustream::attach {

/// A thread that looks every kafka.model_every, whether or not any lane of this process does anything. What it cannot
/// read now it reads at the next tick.
class ModelClock {
 public:
  struct Look {
    std::optional<std::string> changed{};  ///< the model, where it is another than the last time
    std::vector<LaneId> waits_for{};       ///< the lanes that hold it up
  };
  /// Called on the clock's thread after each look that found what it looked for; after one that did not, with
  /// nothing.
  using Looked = std::function<void(std::optional<Look> look)>;
  ModelClock(const Setup& setup, Looked looked);
  /// Waits for the look that is under way.
  ~ModelClock();
  ModelClock(const ModelClock&) = delete;
  ModelClock& operator=(const ModelClock&) = delete;

  /// Looks once more, now.
  void look_now();

 private:
  class Releases;
  void run();
  [[nodiscard]] bool sleep();

  const Setup& setup_;
  Looked looked_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool leaving_ = false;
  bool now_ = false;
  std::thread thread_;  // last: starts when the rest is there
};

}  // namespace nustream::attach
