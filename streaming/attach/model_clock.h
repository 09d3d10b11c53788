// The clock of the combined model: it reads the committed releases of all lanes, and tells when their average has
// changed.
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

/// A thread that looks once in kafka.model_every, whether or not a lane of this process is active: other instances
/// publish releases too. What it cannot read now it reads at the next tick.
class ModelClock {
 public:
  struct Look {
    std::optional<std::string> changed{};  ///< the combined model, where it differs from the last look's
    std::vector<LaneId> waits_for{};       ///< the lanes without which there is no combined model now
  };
  /// Called on the clock's thread after each look, with nothing where the brokers did not answer.
  using Looked = std::function<void(std::optional<Look> look)>;
  ModelClock(const Setup& setup, Looked looked);
  /// Waits until the look that is under way is over.
  ~ModelClock();
  ModelClock(const ModelClock&) = delete;
  ModelClock& operator=(const ModelClock&) = delete;

  /// Has the clock look once more, without waiting for the next tick.
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
  std::thread thread_;  // declared last, so that it starts when all other members are there
};

}  // namespace nustream::attach
