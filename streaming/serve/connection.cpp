// The coroutine of one connection: read a request's header, answer it, read the next. Each wait has a deadline and
// each buffer a bound, because anybody may connect. What is answered is decided in exchange.cpp; events are sent by
// follow.cpp.
#include "serve/connection.h"

#include <boost/beast/http/write.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>

namespace nustream::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Clock = std::chrono::steady_clock;

constexpr std::string_view header_end = "\r\n\r\n";

/// How long, and for how many bytes, a client that was refused is still read. Closing a socket with unread bytes
/// resets the connection, and the reset may overtake the refusal.
constexpr std::chrono::milliseconds linger_time{1000};
constexpr std::size_t linger_bytes_max = 65'536;

/// Appends what comes next, at most `room` bytes.
asio::awaitable<beast::error_code> receive(Connection& connection, std::string& received, std::size_t room) {
  std::array<char, 2048> bytes;
  const auto [error, size] =
      co_await connection.stream.async_read_some(asio::buffer(bytes.data(), std::min(bytes.size(), room)), as_values);
  received.append(bytes.data(), size);
  co_return error;
}

/// Reads to the end of the header. Beast's own limit would bound it line by line only. What follows the header stays
/// in `received`.
asio::awaitable<beast::error_code> read_header(Connection& connection, std::string& received, std::size_t bytes_max,
                                               RequestParser& parser) {
  std::size_t end;
  for (std::size_t searched = 0; (end = received.find(header_end, searched)) == std::string::npos;) {
    if (received.size() >= bytes_max) co_return http::error::header_limit;
    // The end of the header may be cut by two reads, so that its first three bytes are searched again.
    searched = received.size() - std::min(received.size(), header_end.size() - 1);
    const beast::error_code error = co_await receive(connection, received, bytes_max - received.size());
    if (error) co_return error;
  }
  end += header_end.size();
  // The header is whole and within its bound. So Beast's limit is lifted out of the way.
  parser.header_limit(static_cast<std::uint32_t>(end + 1));
  beast::error_code error;
  received.erase(0, parser.put(asio::buffer(received.data(), end), error));
  co_return error;
}

/// Whether the client sent something that is no request; false where it only stopped sending.
bool unreadable(const beast::error_code& error) {
  static const boost::system::error_category& parsing = beast::error_code(http::error::bad_method).category();
  return error.category() == parsing;
}

/// Sends an answer, for HEAD without its body. Returns false where the client does not take it.
asio::awaitable<bool> send(Connection& connection, Answer answer, bool header_alone) {
  http::response_serializer<http::string_body> serializer(answer);
  if (header_alone) {
    const auto [error, size] = co_await http::async_write_header(connection.stream, serializer, as_values);
    co_return !error;
  }
  const auto [error, size] = co_await http::async_write(connection.stream, serializer, as_values);
  co_return !error;
}

/// Closes this side and reads on until the client closes its own.
asio::awaitable<void> leave(Connection& connection) {
  connection.enter(Activity::leaving);
  beast::error_code error;
  static_cast<void>(connection.stream.socket().shutdown(asio::socket_base::shutdown_send, error));
  connection.stream.expires_after(linger_time);
  std::array<char, 4096> ignored;
  for (std::size_t total = 0; !error && total < linger_bytes_max;) {
    const auto [failure, size] = co_await connection.stream.async_read_some(asio::buffer(ignored), as_values);
    error = failure;
    total += size;
  }
}

/// Whether the client may still be sending what nobody will read. Closing at once could then cost it the answer.
bool has_unread(bool failed, const RequestParser& parser, const std::string& received) {
  return failed || !parser.is_done() || !received.empty();
}

}  // namespace

asio::awaitable<void> serve_requests(Connection& connection, const Limits& limits, const Answerer& answerer) {
  std::string received;
  Clock::time_point deadline = Clock::now() + limits.request_time;
  for (std::size_t number = 1;; ++number) {
    // What came behind the last request may be the next one already, in part or in whole.
    if (received.empty()) {
      connection.stream.expires_at(deadline);
      const beast::error_code nothing = co_await receive(connection, received, limits.header_bytes_max);
      if (nothing) co_return;
    }
    connection.enter(Activity::reading);
    // The first request has the deadline that began with the connection, so that a client cannot win time by silence.
    if (number > 1) deadline = Clock::now() + limits.request_time;

    // The whole request has one deadline: a client cannot move it by sending a byte now and then.
    connection.stream.expires_at(deadline);
    RequestParser parser;
    const beast::error_code error = co_await read_header(connection, received, limits.header_bytes_max, parser);
    // The client is gone, or its deadline has passed: there is nobody to answer.
    if (error && !unreadable(error)) co_return;

    connection.enter(Activity::answering);
    Reply reply = error ? Reply{refusal(error)} : answerer(parser, number);
    // From here on the connection takes no other request.
    if (reply.follow) co_return co_await follow_events(connection, limits, std::move(reply));
    const bool stays = reply.answer.keep_alive();
    const bool header_alone = !error && parser.get().method() == http::verb::head;
    // The answer has a time of its own, within which the client has to take it.
    connection.stream.expires_after(limits.request_time);
    const bool sent = co_await send(connection, std::move(reply.answer), header_alone);
    if (!sent) co_return;
    if (!stays || connection.last_request) {
      if (has_unread(error.failed(), parser, received)) co_await leave(connection);
      co_return;
    }
    connection.enter(Activity::idle);
    deadline = Clock::now() + limits.idle_time;
  }
}

}  // namespace nustream::serve
