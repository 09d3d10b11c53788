// Reports errors of sockets and timers as values: here they are the rule, and none of them is exceptional.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace nustream::serve {

inline constexpr auto as_values = boost::asio::as_tuple(boost::asio::use_awaitable);

}  // namespace nustream::serve
