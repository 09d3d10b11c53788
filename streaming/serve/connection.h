// One client of a listener: serves its requests one after the other, and gives each wait a deadline.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "serve/eviction.h"
#include "serve/exchange.h"
#include "serve/settings.h"

namespace nustream::serve {

struct Connection {
  boost::beast::tcp_stream stream;
  Guest guest{};
  bool last_request = false;  ///< set from outside: the connection closes after the present request

  void enter(Stage stage) {
    guest.stage = stage;
    guest.since = std::chrono::steady_clock::now();
  }
};

/// Gives what a follower of events is told next. An empty text means that nothing is new; no text means that the
/// events are over.
using Follow = std::function<std::optional<std::string>()>;

struct Reply {
  Answer answer;
  Follow follow{};  ///< where given, the connection takes no other request; it is asked once a second
};

/// Answers a request whose header was read. `number` counts the requests of the connection from 1.
using Answerer = std::function<Reply(const RequestParser&, std::size_t number)>;

/// Serves until the client goes, an answer ends the connection or a deadline passes. It never throws because of what
/// a client does. `connection`, `limits` and `answerer` have to outlive the coroutine.
[[nodiscard]] boost::asio::awaitable<void> serve_requests(Connection& connection, const Limits& limits,
                                                          const Answerer& answerer);

}  // namespace nustream::serve
