// [serve]: where the listeners are and what they allow; [log]: how a service reports what happens to it.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "log/entry.h"

namespace nustream::config {

/// What one listener allows its clients. Every wait has a deadline, and every size a bound.
struct ServeLimits {
  std::size_t header_bytes_max = 8192;  ///< request line and headers together; more is answered by 431
  /// One more connection takes the place of the one whose last request is longest ago.
  std::size_t connections_max = 64;
  std::size_t connections_per_address_max = 32;    ///< of these, the connections of one address
  std::size_t events_max = 16;                     ///< connections that follow events; at most half of all may
  std::size_t events_per_address_max = 4;          ///< of these, the connections of one address
  std::size_t requests_max = 1000;                 ///< of one connection; the last is answered with Connection: close
  std::chrono::milliseconds request_time{10'000};  ///< time to send one request, and again to take its response
  std::chrono::milliseconds idle_time{60'000};     ///< time between two requests of a connection
};

/// Addresses are "IP:PORT", "[IPv6]:PORT" or "localhost:PORT"; no name is ever looked up. Port 0 is any free one.
struct Serve {
  std::string public_address = "127.0.0.1:9464";    ///< empty: no public listener
  std::string health_address{};                     ///< empty: no separate listener for probes
  std::string operator_address = "127.0.0.1:9465";  ///< empty: no operator listener
  std::string public_token_file{};                  ///< empty: everybody who reaches the listener may read
  std::string operator_token_file{};  ///< empty: made beside the key; "none": no token is asked for, on loopback only
  ServeLimits limits{};               ///< of each listener
};

/// How the service (attach) logs. What a command prints in a terminal does not depend on this.
struct Log {
  std::optional<log::Format> format{};  ///< empty: plain where standard error is a terminal, else text
  std::string file{};                   ///< opened again at SIGHUP; empty: standard error
};

}  // namespace nustream::config
