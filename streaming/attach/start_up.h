// Handles SIGINT and SIGTERM at the start, while there is no service yet that could drain its lanes.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

#include "error.h"

namespace nustream::attach {

/// While a StartUp exists, it notices the two signals, and they do not end the process by themselves. After its end
/// they are ignored: the process is leaving then, with the exit code of what it did. To be used from one thread.
class StartUp {
 public:
  /// Runs `loop` while work is waited for, so that the listeners on it answer meanwhile.
  explicit StartUp(std::shared_ptr<boost::asio::io_context> loop);
  ~StartUp();
  StartUp(const StartUp&) = delete;
  StartUp& operator=(const StartUp&) = delete;

  using Work = std::function<void(const std::atomic<bool>& cancelled)>;
  /// Runs `work`, which may wait for brokers, on a thread of its own. Returns nothing once the work is done, and
  /// rethrows what it threw. Where a signal comes first, it returns the exit code that stands for the signal. The
  /// work is then told by its flag, and where it does not end within half a second, its thread is left behind. So the
  /// work has to own what it uses.
  [[nodiscard]] std::optional<Exit> run(Work work);
  /// The exit code of a signal that has come by now; nothing where none has.
  [[nodiscard]] std::optional<Exit> told_to_end();

 private:
  std::shared_ptr<boost::asio::io_context> loop_;  // shared with work that was left behind, which ends later
  boost::asio::signal_set signals_;
  std::optional<Exit> told_;
};

}  // namespace nustream::attach
