// The rules of what is answered to a request whose header was read: which status, which headers, and whether the
// connection stays open. Nothing here waits or reads from a socket.
#include "serve/connection.h"

#include <sodium.h>

#include <boost/beast/http/error.hpp>
#include <boost/beast/http/rfc7230.hpp>

#include <array>
#include <ctime>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

#include "serve/settings.h"

namespace nustream::serve {
namespace {

namespace http = boost::beast::http;

/// The time as an IMF-fixdate (RFC 9110 §5.6.7). The program never leaves the C locale, in which strftime's names are
/// the right ones.
std::string http_date() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &utc)};
}

/// Adds the headers that every answer has; listener.h gives the reason for each of them.
Answer with_headers(Response response) {
  Answer out(static_cast<http::status>(response.status), 11);
  out.set(http::field::date, http_date());
  out.set(http::field::content_type, response.content_type);
  out.set(http::field::cache_control, "no-store");
  out.set("X-Content-Type-Options", "nosniff");
  if (response.content_policy != nullptr) out.set("Content-Security-Policy", response.content_policy);
  out.body() = std::move(response.body);
  out.prepare_payload();
  return out;
}

/// An answer in a line of text, for people who try a path by hand.
Answer plain(http::status status, const char* text) {
  return with_headers({static_cast<unsigned>(status), plain_text, text});
}

/// 401. "Basic" is offered as well, since a browser asks its user for a password, but not for a bearer token.
Answer unauthorized() {
  Answer out = plain(http::status::unauthorized, "a bearer token is needed\n");
  out.set(http::field::www_authenticate, "Bearer realm=\"nustream\", Basic realm=\"nustream\"");
  return out;
}

/// 405, which has to name the methods that are allowed (RFC 9110, section 15.5.6).
Answer method_not_allowed() {
  Answer out = plain(http::status::method_not_allowed, "only GET and HEAD\n");
  out.set(http::field::allow, "GET, HEAD");
  return out;
}

/// The one header of that name. Empty where there is none, and where there are several: then it is an attack or a
/// mistake.
std::optional<std::string_view> single(const RequestParser::value_type& request, http::field name) {
  if (request.count(name) != 1) return std::nullopt;
  const auto value = request[name];
  return std::string_view(value.data(), value.size());
}

/// The password of RFC 7617 credentials, whatever the user name is; empty where they cannot be read.
std::string password_of(std::string_view credentials) {
  // For example QWxhZGRpbjpvcGVuIHNlc2FtZQ== is "Aladdin:open sesame" (RFC 7617), whose password is "open sesame".
  std::string text(credentials.size(), '\0');
  std::size_t size = 0;
  if (sodium_base642bin(reinterpret_cast<unsigned char*>(text.data()), text.size(), credentials.data(),
                        credentials.size(), nullptr, &size, nullptr, sodium_base64_VARIANT_ORIGINAL) != 0) {
    return {};
  }
  text.resize(size);
  const std::size_t colon = text.find(':');
  return colon == std::string::npos ? std::string() : text.substr(colon + 1);
}

/// Whether the request shows the token: as "Bearer TOKEN", or as the password of "Basic", which a browser sends after
/// it asked its user.
bool authorized(const RequestParser::value_type& request, const BearerToken& token) {
  constexpr std::string_view bearer = "Bearer ";
  constexpr std::string_view basic = "Basic ";
  const auto value = single(request, http::field::authorization);
  // A request with several Authorization headers is refused like one without.
  if (!value) return false;
  if (boost::beast::iequals(value->substr(0, bearer.size()), bearer)) {
    return token.matches(value->substr(bearer.size()));
  }
  return boost::beast::iequals(value->substr(0, basic.size()), basic) &&
         token.matches(password_of(value->substr(basic.size())));
}

/// HTTP/1.1 asks for one Host header (RFC 9112, section 3.2); older versions may have none.
bool names_its_host(const RequestParser::value_type& request) {
  const std::size_t hosts = request.count(http::field::host);
  return hosts == 1 || (hosts == 0 && request.version() < 11);
}

/// Whether the request names no host, or one that no resolver can make point here. Browsers always name one.
bool host_is_literal(const RequestParser::value_type& request) {
  const auto host = single(request, http::field::host);
  return !host || is_literal_host(*host);
}

/// Whether the request has a body. Without one, the header is the whole request.
bool has_body(const RequestParser& parser) {
  return !parser.is_done();
}

/// The checks stand in this order: first who is asked, then who asks, and only then what is asked for. Without the
/// token a client does not learn which paths there are.
Answer answer_unguarded(const RequestParser& parser, const Access& access, const Routes& routes) {
  const auto& request = parser.get();
  if (!names_its_host(request)) return plain(http::status::bad_request, "one Host header is needed\n");
  if (access.literal_hosts_only && !host_is_literal(request)) {
    return plain(http::status::misdirected_request, "ask by IP address or as localhost\n");
  }
  if (access.token && !authorized(request, *access.token)) return unauthorized();
  if (request.method() != http::verb::get && request.method() != http::verb::head) return method_not_allowed();
  if (has_body(parser)) return plain(http::status::payload_too_large, "no request body is taken\n");
  const std::string_view target(request.target().data(), request.target().size());
  // The query is cut off, so that no answer depends on it.
  return with_headers(routes(target.substr(0, target.find('?'))));
}

}  // namespace

Answer answer(const RequestParser& parser, const Access& access, const Routes& routes) {
  Answer out;
  try {
    out = answer_unguarded(parser, access, routes);
  } catch (const std::exception&) {
    // The exception's text may hold what depends on data, and is not shown.
    out = plain(http::status::internal_server_error, "internal error\n");
  }
  // The connection closes after a request with a body: the body is not read, and would be taken for the next request.
  out.keep_alive(parser.get().version() == 11 && parser.get().keep_alive() && !has_body(parser));
  return out;
}

Answer too_many_followers() {
  Answer out = plain(http::status::too_many_requests,
                     "too many clients follow events; read /api/v1/state from time to time instead\n");
  // In seconds: places become free as followers go.
  out.set(http::field::retry_after, "10");
  out.keep_alive(false);
  return out;
}

Answer refusal(const boost::beast::error_code& error) {
  Answer out = error == http::error::header_limit
                   ? plain(http::status::request_header_fields_too_large, "the request's header is too long\n")
                   : plain(http::status::bad_request, "not an HTTP/1 request\n");
  out.keep_alive(false);
  return out;
}

}  // namespace nustream::serve
