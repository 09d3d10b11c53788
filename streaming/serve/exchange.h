// One request, read as far as its header, and the answer to it: every rule of the listener but its waits.
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

/// The answer to a request whose header `parser` has; answer.keep_alive() says whether another may follow. An
/// exception of the routes is a 500 without its text.
[[nodiscard]] Answer answer(const RequestParser& parser, const Access& access, const Routes& routes);

/// 429: to one follower of events more than there is room for.
[[nodiscard]] Answer too_many_followers();

/// The last answer of a connection whose request could not be read: 431 where its header was too long, else 400.
[[nodiscard]] Answer refusal(const boost::beast::error_code& error);

}  // namespace nustream::serve
