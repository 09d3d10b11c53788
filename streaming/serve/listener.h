// An HTTP/1.1 server for scrapers and probes, on somebody else's event loop.
#pragma once

#include <cstdint>
#include <memory>

#include "serve/address.h"
#include "serve/bearer_token.h"
#include "serve/http.h"
#include "serve/settings.h"

namespace boost::asio {
class io_context;
}

namespace nustream::serve {

/// Accepts connections and answers GET and HEAD from its routes; 405 for other methods, 413 for a request with a
/// body, 431 for a long header, 400 for what is no HTTP/1 request, and on every path 401 without the token where one
/// is set and 421 for a Host that is not allowed. No TLS: a proxy's work.
///
/// Everything runs on the loop's thread, one request at a time a connection; nothing blocks. A failed accept, a
/// client's errors and an exception of the routes end a connection at most.
///
/// Whoever gets an event stream from the routes follows the feed from then on, within Limits::events_max and
/// events_per_address_max; 429 beyond them.
///
/// Headers of an answer, each for a reason, none a function of data: Date (the clock; RFC 9110 §6.6.1),
/// Content-Type, Content-Length, Cache-Control: no-store (an estimate is as old as its step, not as a cache says),
/// X-Content-Type-Options: nosniff, Content-Security-Policy on pages, Connection where it closes, WWW-Authenticate on
/// 401, Allow on 405. No Server, no ETag, no Last-Modified, no CORS.
class Listener {
 public:
  /// Listens at once; accepts when the loop runs. InvalidParameter for limits out of range; Failure(io), or
  /// Failure(permission), where the address cannot be bound. `feed`: of whoever gets an event stream.
  Listener(boost::asio::io_context& loop, const Address& address, const Limits& limits, const Access& access,
           Routes routes, Feed feed = {});
  /// Closes every connection; the routes are not called again. To be called on the loop's thread, or once it ended.
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// The port it is bound to.
  [[nodiscard]] std::uint16_t port() const noexcept;

  /// From the next request on; connections stay.
  void change_access(const Access& access);

  /// Accepts no more, closes idle connections and lets requests in flight finish, within Limits::request_time. After
  /// that nothing of it keeps the loop running.
  void stop();

 private:
  class Service;
  std::shared_ptr<Service> service_;
};

}  // namespace nustream::serve
