// Reads one request as far as its header and answers it. All rules of the listener are here but its waits.
#pragma once

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "serve/bearer_token.h"
#include "serve/http.h"

namespace nustream::serve {

using RequestParser = boost::beast::http::request_parser<boost::beast::http::empty_body>;
using Answer = boost::beast::http::response<boost::beast::http::string_body>;

/// The answer to a request whose header is in `parser`. answer.keep_alive() says whether another request may follow.
/// An exception of the routes becomes a 500 without its text.
[[nodiscard]] Answer answer(const RequestParser& parser, const Access& access, const Routes& routes);

/// The answer 429 to a follower of events for whom there is no room.
[[nodiscard]] Answer too_many_followers();

/// The last answer of a connection whose request could not be read: 431 where its header was too long, else 400.
[[nodiscard]] Answer refusal(const boost::beast::error_code& error);

}  // namespace nustream::serve
