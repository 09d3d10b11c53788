// One client that follows events: told once a second of what is new, by a clock that knows no records.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>

#include "serve/connection.h"

namespace nustream::serve {

/// How often a follower is looked after. All that happened in between is one message, so that nothing waits in a
/// queue for a slow client, and the moment of a message tells no more than a look at the state once a second would.
inline constexpr std::chrono::milliseconds event_clock{1000};
/// After so long without a message a comment is sent, by which a proxy sees that the connection lives.
inline constexpr std::chrono::milliseconds event_comment_after{15'000};

/// Sends the answer's header and then what `reply.follow` gives, until it is over, the client goes or does not take a
/// message within Limits::request_time.
[[nodiscard]] boost::asio::awaitable<void> follow_events(Connection& connection, const Limits& limits, Reply reply);

}  // namespace nustream::serve
