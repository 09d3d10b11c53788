// An HTTP/1.1 server for scrapers and probes that runs on somebody else's event loop.
#pragma once

#include <cstdint>
#include <memory>

#include "serve/bearer_token.h"
#include "serve/http.h"
#include "serve/settings.h"

namespace boost::asio {
class io_context;
}

namespace nustream::serve {

/// Accepts connections and answers GET and HEAD from its routes. Other answers: 405 to other methods, 413 to a
/// request with a body, 431 to a long header, 400 to what is no HTTP/1 request, 401 on every path without the token
/// where one is set, and 421 for a Host that is not allowed. It has no TLS, which is a proxy's work.
///
/// Everything runs on the loop's thread, one request at a time for each connection, and nothing blocks. A failed
/// accept, a client's error or an exception of the routes ends at most one connection.
///
/// A client that gets an event stream from the routes follows the feed from then on, within Limits::events_max and
/// events_per_address_max; beyond them it gets 429.
///
/// Each header of an answer has its reason, and none is a function of data: Date (the clock; RFC 9110 §6.6.1),
/// Content-Type, Content-Length, Cache-Control: no-store (an estimate is as old as its step, not as a cache says),
/// X-Content-Type-Options: nosniff, Content-Security-Policy on pages, Connection where it closes, WWW-Authenticate on
/// 401, Allow on 405. There is no Server, no ETag, no Last-Modified and no CORS.
class Listener {
 public:
  /// Listens at once, and accepts when the loop runs. `feed` serves clients that get an event stream. Throws
  /// InvalidParameter for limits out of range, and Failure(io) or Failure(permission) where the address cannot be
  /// bound.
  Listener(boost::asio::io_context& loop, const Address& address, const Limits& limits, const Access& access,
           Routes routes, Feed feed = {});
  /// Closes every connection; the routes are not called again. Has to be called on the loop's thread, or after the
  /// loop ended.
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// The port that it is bound to.
  [[nodiscard]] std::uint16_t port() const noexcept;

  /// Changes who may read from the next request on. With another token, connections that are idle or follow events
  /// are closed; all others stay.
  void change_access(const Access& access);

  /// Accepts no more, closes idle connections and lets requests in flight finish, within Limits::request_time. After
  /// that nothing of the listener keeps the loop running.
  void stop();

 private:
  class Service;
  std::shared_ptr<Service> service_;
};

}  // namespace nustream::serve
