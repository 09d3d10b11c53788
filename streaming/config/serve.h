// [serve]: where the listeners are and what they put up with; [log]: how a service tells what happens to it.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "log/entry.h"

namespace nustream::config {

/// What one listener allows its clients. Every wait has a deadline, every size a bound.
struct ServeLimits {
  std::size_t header_bytes_max = 8192;             ///< request line and headers together; more is answered 431
  std::size_t connections_max = 64;                ///< one more takes the place of whoever has not asked for longest
  std::size_t connections_per_address_max = 32;    ///< the same, among those of one address
  std::size_t events_max = 16;                     ///< connections that follow events, and at most half of all
  std::size_t events_per_address_max = 4;          ///< the same, of one address
  std::size_t requests_max = 1000;                 ///< of one connection; the last is answered with Connection: close
  std::chrono::milliseconds request_time{10'000};  ///< to send one request, and again to take its response
  std::chrono::milliseconds idle_time{60'000};     ///< between two requests of a connection
};

/// Addresses are "IP:PORT", "[IPv6]:PORT" or "localhost:PORT"; no name is ever looked up. Port 0 is any free one.
struct Serve {
  std::string public_address = "127.0.0.1:9464";    ///< empty: no public listener
  std::string health_address{};                     ///< empty: no listener of its own for probes
  std::string operator_address = "127.0.0.1:9465";  ///< empty: no operator listener
  std::string public_token_file{};                  ///< empty: anyone who reaches it may read
  std::string operator_token_file{};  ///< empty: made beside the key; "none": on loopback, none is asked for
  ServeLimits limits{};               ///< of each listener
};

/// Of a service, attach. What a command says at a terminal is the same whatever is set.
struct Log {
  std::optional<log::Format> format{};  ///< empty: plain where standard error is a terminal, else text
  std::string file{};                   ///< opened again at SIGHUP; empty: standard error
};

}  // namespace nustream::config
