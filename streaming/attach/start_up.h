// SIGINT and SIGTERM while there is no service yet that could drain.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

#include "error.h"

namespace nustream::attach {

/// While one lives, the two signals are noticed here and do not end the process by themselves; from its end on they
/// are ignored: the process leaves already, and with the exit code of what it did. One thread calls it.
class StartUp {
 public:
  /// The loop runs while work is waited for: listeners on it answer meanwhile.
  explicit StartUp(std::shared_ptr<boost::asio::io_context> loop);
  ~StartUp();
  StartUp(const StartUp&) = delete;
  StartUp& operator=(const StartUp&) = delete;

  using Work = std::function<void(const std::atomic<bool>& cancelled)>;
  /// Runs `work`, which may wait for brokers, on a thread of its own. Nothing once it is done; rethrows what it
  /// threw. Where a signal comes first, the exit code that stands for it: the work is told by its flag, and left to
  /// itself where it does not end within a moment. So it has to own what it uses.
  [[nodiscard]] std::optional<Exit> run(Work work);
  /// The exit code of a signal that has come by now.
  [[nodiscard]] std::optional<Exit> told_to_end();

 private:
  std::shared_ptr<boost::asio::io_context> loop_;  // shared: work that was left ends later
  boost::asio::signal_set signals_;
  std::optional<Exit> told_;
};

}  // namespace nustream::attach
