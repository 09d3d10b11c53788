// The part of an attached process that exists before a broker has answered: the event loop, and the listeners on it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <string>

#include "config/serve.h"
#include "secrets/locked_memory.h"
#include "serve/operator_surface.h"
#include "serve/public_surface.h"
#include "serve/servers.h"

namespace nustream::attach {

/// Listens from its construction on, and answers while the loop runs. So however long the process waits for a broker,
/// a probe finds it alive, and not ready. SIGHUP opens the log's file again, reads the tokens again and calls
/// `on_hangup`. All of it is used from the loop's thread alone. It outlives the service that works on it.
struct Front {
  /// Throws as serve::Servers. `settings.operator_token_file` is a file or "none".
  Front(const config::Serve& settings, const std::string& stream)
      : shown(stream, now), operators(shown), servers(*loop, settings, shown, operators), hangups_(*loop, SIGHUP) {
    wait_for_hangup();
  }

  /// Seconds since 1970.
  [[nodiscard]] static double now() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  }

  // Declared before the loop, and so destroyed after it: work that the loop still holds at the end has keys in this
  // memory.
  secrets::LockedMemory locked;
  std::shared_ptr<boost::asio::io_context> loop = std::make_shared<boost::asio::io_context>();
  serve::PublicSurface shown;
  serve::OperatorSurface operators;
  serve::Servers servers;
  std::function<void()> on_hangup{};  ///< may be empty

 private:
  void wait_for_hangup();

  boost::asio::signal_set hangups_;
};

}  // namespace nustream::attach
