// An event loop on a thread of its own, with surfaces and what listens on it.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <future>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "serve/operator_surface.h"
#include "serve/public_surface.h"

namespace nustream::tests {

/// The thread that owns everything that is served. Tests reach it by on_loop() alone, as the service's own threads
/// do.
class ServeLoop {
 public:
  explicit ServeLoop(std::string stream = "retail")
      : shown(std::move(stream)), operators(shown), work_(loop.get_executor()), thread_([this] { loop.run(); }) {}
  /// Lets the loop run out. A listener that keeps it alive for ever therefore hangs its test.
  ~ServeLoop() { join(); }
  ServeLoop(const ServeLoop&) = delete;
  ServeLoop& operator=(const ServeLoop&) = delete;

  /// Runs `call` on the loop's thread, or on this one after the loop has ended, and returns what `call` returns.
  template <class Call>
  auto on_loop(Call call) {
    if (!thread_.joinable()) return call();
    std::packaged_task<std::invoke_result_t<Call>()> task(std::move(call));
    auto result = task.get_future();
    boost::asio::post(loop, std::move(task));
    return result.get();
  }
  /// Waits until nothing is left to do.
  void join() {
    work_.reset();
    if (thread_.joinable()) thread_.join();
  }

  boost::asio::io_context loop{1};
  serve::PublicSurface shown;
  serve::OperatorSurface operators;

 private:
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
};

}  // namespace nustream::tests
