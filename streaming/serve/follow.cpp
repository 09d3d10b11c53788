// Sends server-sent events to one follower: at most one message a second, with all that is new since the last.
#include "serve/connection.h"

#include <sys/socket.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/write.hpp>

#include <cerrno>
#include <string>
#include <utility>

namespace nustream::serve {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Clock = std::chrono::steady_clock;

/// Whether the client has closed its side, or anything is wrong with the connection. What it still sends is ignored.
bool has_gone(Connection& connection) {
  char ignored[512];
  const ssize_t count = ::recv(connection.stream.socket().native_handle(), ignored, sizeof ignored, MSG_DONTWAIT);
  return count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

/// Sends a text. A client that does not take it within Limits::request_time is cut off, and keeps no buffer here.
asio::awaitable<bool> tell(Connection& connection, const Limits& limits, const std::string& text) {
  connection.stream.expires_after(limits.request_time);
  const auto [error, size] = co_await asio::async_write(connection.stream, asio::buffer(text), as_values);
  connection.stream.expires_never();
  co_return !error;
}

/// Sends a header without a length: the end of the connection ends the answer.
asio::awaitable<bool> send_header(Connection& connection, const Limits& limits, Answer answer) {
  // The end of the stream is not known beforehand.
  answer.content_length(boost::none);
  answer.keep_alive(false);
  http::response_serializer<http::string_body> serializer(answer);
  connection.stream.expires_after(limits.request_time);
  const auto [error, size] = co_await http::async_write_header(connection.stream, serializer, as_values);
  co_return !error;
}

}  // namespace

asio::awaitable<void> follow_events(Connection& connection, const Limits& limits, Reply reply) {
  connection.enter(Activity::following);
  if (!co_await send_header(connection, limits, std::move(reply.answer))) co_return;
  asio::steady_timer clock(co_await asio::this_coro::executor);
  // Tells the client to wait for 3 s before it comes back: after an orderly end all followers come back.
  std::string text = "retry: 3000\n\n";
  for (Clock::time_point told = Clock::now();;) {
    const std::optional<std::string> news = reply.follow();
    // The listener stops, or the feed is gone.
    if (!news) co_return;
    text += *news;
    // A line that begins with a colon is a comment, which clients skip.
    if (text.empty() && Clock::now() - told >= event_comment_after) text = ":\n\n";
    if (!text.empty()) {
      if (!co_await tell(connection, limits, text)) co_return;
      told = Clock::now();
      text.clear();
    }
    // The follower has been told all that is new. The next look is a second later, whatever happens meanwhile.
    clock.expires_after(event_clock);
    static_cast<void>(co_await clock.async_wait(as_values));
    if (!connection.stream.socket().is_open() || has_gone(connection)) co_return;
  }
}

}  // namespace nustream::serve
