// What a listener puts up with: every limit, every deadline, every refusal, over real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "expect_failure.h"
#include "nustream/base/error.h"
#include "serve_echo.h"

namespace nustream::serve {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
TEST(Listener, AnswersGetWithExactlyTheseHeaders) {
  Echo echo;
  const HttpAnswer answer = echo.ask(http_request("/a/path"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "path /a/path\n");
  std::vector<std::string> names;
  for (const auto& [name, value] : answer.headers) names.push_back(name);
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("Date", "Content-Type", "Content-Length", "Cache-Control",
                                                     "X-Content-Type-Options"));
  EXPECT_EQ(answer.headers.at("Cache-Control"), "no-store");
  EXPECT_EQ(answer.headers.at("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(answer.headers.at("Content-Type"), "text/plain; charset=utf-8");
}

TEST(Listener, DatesAnAnswerByTheClock) {
  Echo echo;
  const std::time_t before = std::time(nullptr);
  const std::string date = echo.ask(http_request("/")).headers.at("Date");
  std::tm parsed{};
  ASSERT_NE(::strptime(date.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parsed), nullptr) << date;
  const std::time_t at = ::timegm(&parsed);
  EXPECT_GE(at, before);
  EXPECT_LE(at, std::time(nullptr));
}

TEST(Listener, HeadIsGetWithoutTheBody) {
  Echo echo;
  HttpClient client(echo.port());
  client.send(http_request("/a", {}, "HEAD"));
  const HttpAnswer head = client.read(true);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.headers.at("Content-Length"), "8");
  client.send(http_request("/a"));
  EXPECT_EQ(client.read().body, "path /a\n") << "no byte of the first body came between";
}

TEST(Listener, LeavesTheQueryOut) {
  Echo echo;
  EXPECT_EQ(echo.ask(http_request("/a?name=value&b=?")).body, "path /a\n");
}

TEST(Listener, KeepsAConnectionAndTakesPipelinedRequests) {
  Echo echo;
  HttpClient client(echo.port());
  client.send(http_request("/1"));
  EXPECT_EQ(client.read().body, "path /1\n");
  client.send(http_request("/2") + http_request("/3") + http_request("/4", "Connection: close\r\n"));
  EXPECT_EQ(client.read().body, "path /2\n");
  EXPECT_EQ(client.read().body, "path /3\n");
  const HttpAnswer last = client.read();
  EXPECT_EQ(last.body, "path /4\n");
  EXPECT_EQ(last.headers.at("Connection"), "close");
  EXPECT_EQ(client.read_to_end(), "");
}

TEST(Listener, ClosesAfterHttp10) {
  Echo echo;
  HttpClient client(echo.port());
  client.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(client.read().headers.at("Connection"), "close");
  EXPECT_EQ(client.read_to_end(), "");
}

TEST(Listener, RefusesOtherMethods) {
  Echo echo;
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "get", "BREW"}) {
    const HttpAnswer answer = echo.ask(http_request("/a", {}, method));
    EXPECT_EQ(answer.status, 405) << method;
    EXPECT_EQ(answer.headers.at("Allow"), "GET, HEAD") << method;
  }
  EXPECT_EQ(echo.answered, 0);
}

// The unread body would otherwise be taken for the next request.
TEST(Listener, RefusesABodyAndEndsTheConnection) {
  Echo echo;
  const std::string smuggled = http_request("/smuggled");
  for (const std::string& header : {"Content-Length: " + std::to_string(smuggled.size()) + "\r\n",
                                    std::string("Transfer-Encoding: chunked\r\n")}) {
    for (const auto& [method, status] : {std::pair{"GET", 413}, std::pair{"POST", 405}}) {
      HttpClient client(echo.port());
      client.send(http_request("/a", header, method) + smuggled);
      const HttpAnswer answer = client.read();
      EXPECT_EQ(answer.status, status) << method << " " << header;
      EXPECT_EQ(answer.headers.at("Connection"), "close");
      EXPECT_EQ(client.read_to_end(), "");
    }
  }
  EXPECT_EQ(echo.ask(http_request("/a", "Content-Length: 0\r\n")).status, 200);
  EXPECT_EQ(echo.answered, 1);
}

TEST(Listener, RefusesALongHeader) {
  Limits limits = patient;
  limits.header_bytes_max = 1024;
  Echo echo(limits);
  const std::string fits(1024 - http_request("/").size(), 'a');
  EXPECT_EQ(echo.ask(http_request("/" + fits)).status, 200);
  const std::string line = "X-Filler: " + fits + "\r\n";
  for (const std::string& request :
       {http_request("/" + fits + "a"), http_request("/", line + line),
        http_request("/", "X: " + std::string(1 << 20, 'a')), std::string(1 << 20, 'a')}) {
    HttpClient client(echo.port());
    client.send(request);
    const HttpAnswer answer = client.read();
    EXPECT_EQ(answer.status, 431);
    EXPECT_EQ(answer.headers.at("Connection"), "close");
  }
  EXPECT_EQ(echo.answered, 1);
}

TEST(Listener, RefusesWhatIsNoRequest) {
  Echo echo;
  for (const char* request :
       {"\r\n\r\n\r\n\r\n", "GARBAGE\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", "\x16\x03\x01 as TLS begins\r\n\r\n"}) {
    const HttpAnswer answer = echo.ask(request);
    EXPECT_EQ(answer.status, 400) << request;
    EXPECT_THAT(answer.body, Not(HasSubstr("GARBAGE")));
  }
  EXPECT_EQ(echo.answered, 0);
}

TEST(Listener, AnExceptionOfTheRoutesIsA500WithoutItsText) {
  Echo echo;
  HttpClient client(echo.port());
  client.send(http_request("/throws"));
  const HttpAnswer answer = client.read();
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.body, "internal error\n");
  client.send(http_request("/a"));
  EXPECT_EQ(client.read().status, 200);
}

// If a socket is closed while it holds unread bytes, the connection is reset, and not every client then still finds
// the answer.
TEST(Listener, ARefusalIsNotFollowedByAReset) {
  Limits limits = patient;
  limits.header_bytes_max = 1024;
  Echo echo(limits);
  for (const std::string& request :
       {http_request("/", "X: " + std::string(32'000, 'a') + "\r\n"), "GARBAGE\r\n\r\n" + std::string(32'000, 'a'),
        http_request("/", "Content-Length: 32000\r\n") + std::string(32'000, 'a')}) {
    HttpClient client(echo.port());
    ASSERT_TRUE(client.send(request));
    EXPECT_GE(client.read().status, 400);
    EXPECT_EQ(client.read_to_end(), "");
    EXPECT_FALSE(client.was_reset());
  }
}

// A limit that counted line by line would let any number of lines through.
TEST(Listener, RefusesABusyAddressAndBadLimits) {
  Echo echo;
  boost::asio::io_context loop;
  const auto open = [&](std::uint16_t port, const Limits& limits) {
    const Listener listener(loop, Address{"127.0.0.1", port}, limits, {}, {});
  };
  tests::expect_failure(
      Exit::io, [&] { open(echo.port(), patient); }, "127.0.0.1:" + std::to_string(echo.port()));
  tests::expect_failure(Exit::io, [&] { const Listener other(loop, Address{"192.0.2.1", 1}, patient, {}, {}); });
  for (const Limits& bad :
       {Limits{.header_bytes_max = 255}, Limits{.header_bytes_max = (1 << 20) + 1}, Limits{.connections_max = 0},
        Limits{.connections_max = 10'001}, Limits{.requests_max = 0}, Limits{.request_time = 0ms},
        Limits{.request_time = 3'600'001ms}, Limits{.idle_time = 0ms}}) {
    EXPECT_THROW(open(0, bad), InvalidParameter);
  }
}

}  // namespace
}  // namespace nustream::serve
