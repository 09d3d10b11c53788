// What of an attached process is there before its broker is: the event loop, and the listeners that answer on it.
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

/// Listens from its construction on, and answers while the loop runs: a probe finds the process alive, and not ready,
/// however long the broker is waited for. SIGHUP opens the log's file again, reads the tokens again and calls
/// `on_hangup`. One thread, the loop's; outlives the service that works on it.
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

  secrets::LockedMemory locked;  // before the loop: what the loop still holds at the end has keys in there
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
