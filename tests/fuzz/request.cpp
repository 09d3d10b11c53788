// Requests to a listener: the bytes of a header, and which answer they get.
#include <boost/asio/buffer.hpp>

#include <algorithm>

#include "error.h"
#include "fuzz.h"
#include "nustream/base/error.h"
#include "serve/connection.h"
#include "serve/settings.h"

namespace nustream::fuzz {
namespace {

namespace http = boost::beast::http;

constexpr std::string_view page = "for those who may read it";
constexpr std::string_view token = "0123456789abcdef";

serve::Response route(std::string_view path) {
  require(path.find('?') == path.npos, "a route sees no query");
  if (path == "/metrics") return {200, serve::plain_text, std::string(page)};
  return {404, serve::plain_text, "no page\n"};
}

/// Whether the token is anywhere in the header.
bool shows_token(std::string_view header) {
  return header.find(token) != header.npos;
}

void check_answer(const serve::RequestParser& parser, std::string_view header, const serve::Access& access) {
  const serve::Answer answer = serve::answer(parser, access, route);
  const auto status = answer.result_int();
  constexpr unsigned known[]{200, 400, 401, 404, 405, 413, 421};
  require(std::find(std::begin(known), std::end(known), status) != std::end(known), "a status that is documented");
  require((answer.body() == page) == (status == 200), "the page is there with 200 alone");
  if (status != 200) return;
  const http::verb method = parser.get().method();
  require(method == http::verb::get || method == http::verb::head, "only GET and HEAD read");
  require(parser.is_done(), "no request with a body is answered");
  require(!access.token || shows_token(header), "nobody reads without the token");
  if (access.literal_hosts_only && parser.get().count(http::field::host) != 0) {
    const auto host = parser.get()[http::field::host];
    require(serve::is_literal_host({host.data(), host.size()}), "no page for a name that may be anybody's");
  }
}

void check_address(std::string_view text) {
  static_cast<void>(serve::is_literal_host(text));
  try {
    const serve::Address address = serve::parse_address("listen", text);
    const serve::Address again = serve::parse_address("listen", serve::to_text(address));
    require(again.ip == address.ip && again.port == address.port, "an address is read as it is written");
  } catch (const InvalidParameter&) {
  }
}

void target(std::string_view input) {
  const std::uint8_t choice = take_byte(input);
  if (choice % 8 == 7) return check_address(input);
  serve::Access access;
  if ((choice & 8U) != 0) access.token.emplace(token);
  access.literal_hosts_only = (choice & 16U) != 0;

  // A listener hands its parser a whole header at once, of no more bytes than its limit.
  constexpr std::string_view header_end = "\r\n\r\n";
  const std::size_t end = input.find(header_end);
  const std::string_view header = input.substr(0, end == input.npos ? input.size() : end + header_end.size());
  serve::RequestParser parser;
  parser.header_limit(static_cast<std::uint32_t>(header.size() + 1));
  boost::beast::error_code error;
  const std::size_t taken = parser.put(boost::asio::buffer(header.data(), header.size()), error);
  require(taken <= header.size(), "no byte behind the header is taken");
  if (error) {
    const serve::Answer refusal = serve::refusal(error);
    return require(refusal.result_int() == 400 || refusal.result_int() == 431, "what is no request is refused");
  }
  if (parser.is_header_done()) check_answer(parser, header, access);
}

}  // namespace
}  // namespace nustream::fuzz

NUSTREAM_FUZZ_TARGET(request)
