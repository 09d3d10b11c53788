// Serves one client that follows events. It is told once a second what is new, by a clock that does not depend on
// records.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>

#include "serve/connection.h"

namespace nustream::serve {

/// How often a follower is told. All that happened in between is one message, so that no queue waits for a slow
/// client, and the moment of a message tells no more than a look at the state once a second would.
inline constexpr std::chrono::milliseconds event_clock{1000};
/// After this time without a message a comment is sent, from which a proxy sees that the connection lives.
inline constexpr std::chrono::milliseconds event_comment_after{15'000};

/// Sends the answer's header and then what `reply.follow` gives, until that ends, the client goes, or the client does
/// not take a message within Limits::request_time.
[[nodiscard]] boost::asio::awaitable<void> follow_events(Connection& connection, const Limits& limits, Reply reply);

}  // namespace nustream::serve
