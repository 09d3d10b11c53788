// One client of a listener: serves its requests one after the other, and gives each wait a deadline.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "serve/bearer_token.h"
#include "serve/eviction.h"
#include "serve/http.h"
#include "serve/settings.h"

namespace nustream::serve {

// Reports errors of sockets and timers as values: here they are the rule, and none of them is exceptional.
inline constexpr auto as_values = boost::asio::as_tuple(boost::asio::use_awaitable);

// A request that is read as far as its header, and the answer to it. exchange.cpp has the rules of what is answered.
using RequestParser = boost::beast::http::request_parser<boost::beast::http::empty_body>;
using Answer = boost::beast::http::response<boost::beast::http::string_body>;

/// The answer to a request whose header is in `parser`. answer.keep_alive() says whether another request may follow.
/// An exception of the routes becomes a 500 without its text.
[[nodiscard]] Answer answer(const RequestParser& parser, const Access& access, const Routes& routes);

/// The answer 429 to a follower of events for whom there is no room.
[[nodiscard]] Answer too_many_followers();

/// The last answer of a connection whose request could not be read: 431 where its header was too long, else 400.
[[nodiscard]] Answer refusal(const boost::beast::error_code& error);

struct Connection {
  boost::beast::tcp_stream stream;
  Guest guest{};
  bool last_request = false;  ///< set from outside: the connection closes after the present request

  void enter(Activity activity) {
    guest.activity = activity;
    guest.since = std::chrono::steady_clock::now();
  }
};

/// Gives what a follower of events is told next. An empty text means that nothing is new; no text means that the
/// events are over.
using Follow = std::function<std::optional<std::string>()>;

struct Reply {
  Answer answer;
  Follow follow{};  ///< where given, the connection takes no other request, and calls this once a second
};

/// Answers a request whose header was read. `number` counts the requests of the connection from 1.
using Answerer = std::function<Reply(const RequestParser&, std::size_t number)>;

/// Serves until the client goes, an answer ends the connection or a deadline passes. It never throws because of what
/// a client does. `connection`, `limits` and `answerer` have to outlive the coroutine.
[[nodiscard]] boost::asio::awaitable<void> serve_requests(Connection& connection, const Limits& limits,
                                                          const Answerer& answerer);

/// How often a follower is told. All that happened in between is one message, so that no queue waits for a slow
/// client, and the moment of a message tells no more than a look at the state once a second would.
inline constexpr std::chrono::milliseconds event_clock{1000};
/// After this time without a message a comment is sent, from which a proxy sees that the connection lives.
inline constexpr std::chrono::milliseconds event_comment_after{15'000};

/// Sends the answer's header and then what `reply.follow` gives, until that ends, the client goes, or the client does
/// not take a message within Limits::request_time.
[[nodiscard]] boost::asio::awaitable<void> follow_events(Connection& connection, const Limits& limits, Reply reply);

}  // namespace nustream::serve
