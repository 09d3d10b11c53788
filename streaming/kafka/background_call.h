// A call that may take long, on a thread of its own, waited for in slices.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

#include "kafka/client_error.h"

namespace nustream::kafka {

/// One thread for one call at a time. librdkafka's own way to come back to a transactional call that timed out is not
/// used: some of its calls cannot be resumed (send_offsets), and the result of a first attempt that comes late can be
/// taken for that of a second.
class BackgroundCall {
 public:
  /// Ends without an error, or with one.
  using Call = std::function<std::optional<Error>()>;

  BackgroundCall();
  /// Waits for the call that is under way.
  ~BackgroundCall();
  BackgroundCall(const BackgroundCall&) = delete;
  BackgroundCall& operator=(const BackgroundCall&) = delete;

  /// Starts `call`, or goes on waiting for the one under way, which has to have the same `name`. Waits for `slice` at
  /// most. One thread at a time.
  [[nodiscard]] Progress run(std::string_view name, Call call, std::chrono::milliseconds slice);
  [[nodiscard]] bool is_idle() const noexcept { return name_.empty(); }

 private:
  void work();

  std::string_view name_;  // of the call under way; the caller's thread alone reads it
  std::mutex mutex_;
  std::condition_variable changed_;
  Call call_;  // until the thread has ended it
  bool ended_ = false;
  bool leaving_ = false;
  std::optional<Error> error_;
  std::thread thread_;
};

}  // namespace nustream::kafka
