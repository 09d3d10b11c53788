#include "serve/connection.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <algorithm>
#include <array>
#include <chrono>

namespace nustream::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Clock = std::chrono::steady_clock;
using Phase = Connection::Phase;

/// Errors as values: here they are the rule, and none of them is exceptional.
constexpr auto as_values = asio::as_tuple(asio::use_awaitable);

/// How long, and for how many bytes, a client that was told to go is still read: a reset must not overtake the
/// answer.
constexpr std::chrono::milliseconds linger_time{1000};
constexpr std::size_t linger_bytes_max = 64 * 1024;

/// Waits for the first byte of a request, unless the one before brought it along. False where none came.
asio::awaitable<bool> first_bytes(Connection& connection, beast::flat_buffer& buffer, Clock::time_point deadline) {
  if (buffer.size() > 0) co_return true;
  connection.stream.expires_at(deadline);
  const auto [error, size] = co_await connection.stream.async_read_some(
      buffer.prepare(std::min<std::size_t>(buffer.max_size(), 4096)), as_values);
  buffer.commit(size);
  co_return !error;
}

/// Whether what was read is no request, as opposed to no more at all.
bool unreadable(const beast::error_code& error) {
  static const boost::system::error_category& parsing = beast::error_code(http::error::bad_method).category();
  return error.category() == parsing && error != http::error::end_of_stream && error != http::error::partial_message;
}

asio::awaitable<bool> send(Connection& connection, Answer answer, bool header_alone) {
  http::response_serializer<http::string_body> serializer(answer);
  if (header_alone) {
    const auto [error, size] = co_await http::async_write_header(connection.stream, serializer, as_values);
    co_return !error;
  }
  const auto [error, size] = co_await http::async_write(connection.stream, serializer, as_values);
  co_return !error;
}

/// Closes our side and waits for the client to close its own.
asio::awaitable<void> leave(Connection& connection) {
  connection.phase = Phase::leaving;
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

}  // namespace

asio::awaitable<void> serve_requests(Connection& connection, const Limits& limits, const Answerer& answerer) {
  beast::flat_buffer buffer(limits.header_bytes_max);
  Clock::time_point deadline = Clock::now() + limits.request_time;
  for (std::size_t number = 1;; ++number) {
    const bool more = co_await first_bytes(connection, buffer, deadline);
    if (!more) co_return;
    connection.phase = Phase::busy;
    if (number > 1) deadline = Clock::now() + limits.request_time;

    // One deadline for the whole request: a byte now and then does not move it.
    connection.stream.expires_at(deadline);
    RequestParser parser;
    parser.header_limit(static_cast<std::uint32_t>(limits.header_bytes_max));
    const auto [error, size] = co_await http::async_read_header(connection.stream, buffer, parser, as_values);
    if (error && !unreadable(error)) co_return;

    Answer reply = error ? refusal(error) : answerer(parser, number);
    const bool stays = reply.keep_alive();
    const bool header_alone = !error && parser.get().method() == http::verb::head;
    connection.stream.expires_after(limits.request_time);
    const bool sent = co_await send(connection, std::move(reply), header_alone);
    if (!sent) co_return;
    if (!stays) break;
    connection.phase = Phase::idle;
    deadline = Clock::now() + limits.idle_time;
  }
  co_await leave(connection);
}

}  // namespace nustream::serve
