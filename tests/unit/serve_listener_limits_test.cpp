// A listener's limits and deadlines: clients that drip, are silent, do not take their answer, or are too many.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "serve_echo.h"

namespace nustream::serve {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Listener, CountsALongHeaderThatComesInLines) {
  Limits limits = patient;
  limits.header_bytes_max = 1024;
  Echo echo(limits);
  HttpClient client(echo.port());
  client.send("GET / HTTP/1.1\r\nHost: localhost\r\n");
  int lines = 0;
  while (lines < 100 && !client.readable(5ms)) {
    client.send("X-Filler: 0123456789012345678901234567890123456789\r\n");
    ++lines;
  }
  EXPECT_EQ(client.read().status, 431);
}

// An attack by the name of slow loris sends a byte now and then: that must not move the deadline of the request. All
// 400 bytes would take 20 s.
TEST(Listener, ClosesOnARequestThatDripsIn) {
  Limits limits = patient;
  limits.request_time = 300ms;
  Echo echo(limits);
  HttpClient client(echo.port());
  ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: localhost\r\nX: "));
  int dripped = 0;
  while (dripped < 400 && !client.readable(50ms)) {
    client.send("a");
    ++dripped;
  }
  EXPECT_LT(dripped, 400);
  EXPECT_EQ(client.read_to_end(), "");
  EXPECT_EQ(echo.answered, 0);
}

TEST(Listener, ClosesOnAClientThatSaysNothing) {
  Limits limits = patient;
  limits.request_time = 100ms;
  Echo echo(limits);
  HttpClient client(echo.port());
  EXPECT_EQ(client.read_to_end(), "");
}

TEST(Listener, ClosesAnIdleConnectionAtItsOwnDeadline) {
  Limits limits = patient;
  limits.idle_time = 100ms;
  Echo echo(limits);
  HttpClient client(echo.port());
  client.send(http_request("/a"));
  EXPECT_EQ(client.read().status, 200);
  EXPECT_EQ(client.read_to_end(), "");
}

// The deadline of each request is its own: time that a kept connection was idle must not be added to that of the
// next.
TEST(Listener, ClosesOnALaterRequestThatDripsIn) {
  Limits limits = patient;
  limits.request_time = 300ms;
  Echo echo(limits);
  HttpClient client(echo.port());
  client.send(http_request("/first"));
  EXPECT_EQ(client.read().status, 200);
  client.send("GET ");
  EXPECT_EQ(client.read_to_end(), "");
}

// A client that never reads fills the buffers; the deadline of the answer ends it.
TEST(Listener, ClosesOnAClientThatDoesNotTakeItsAnswer) {
  Limits limits = patient;
  limits.request_time = 300ms;
  Echo echo(limits);
  HttpClient client(echo.port());
  client.send(http_request("/big"));
  std::this_thread::sleep_for(1s);
  EXPECT_THROW(client.read(), std::runtime_error) << "the body is cut";
}

TEST(Listener, EndsAConnectionAfterItsLastAllowedRequest) {
  Limits limits = patient;
  limits.requests_max = 3;
  Echo echo(limits);
  HttpClient client(echo.port());
  for (int i = 1; i <= 3; ++i) {
    client.send(http_request("/a"));
    EXPECT_EQ(client.read().headers.contains("Connection"), i == 3) << i;
  }
  EXPECT_EQ(client.read_to_end(), "");
}

// A client that is being answered keeps its place until its answer is out; the next client waits for a place.
TEST(Listener, LetsNoMoreInThanItsLimit) {
  Limits limits = patient;
  limits.connections_max = 2;
  limits.connections_per_address_max = 9;
  Echo echo(limits);
  HttpClient first(echo.port());
  HttpClient second(echo.port());
  ASSERT_TRUE(first.send(http_request("/big")));
  ASSERT_TRUE(second.send(http_request("/big")));
  ASSERT_TRUE(first.readable(10s) && second.readable(10s));
  HttpClient third(echo.port());
  ASSERT_TRUE(third.send(http_request("/third")));
  EXPECT_FALSE(third.readable(300ms)) << "it waits";
  const HttpAnswer answer = first.read();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(first.read_to_end(), "");
  EXPECT_EQ(third.read().body, "path /third\n");
}

TEST(Listener, WhoKeepsSilentOrDripsGivesItsPlaceToWhoAsks) {
  Limits limits = patient;
  limits.connections_max = 4;
  limits.connections_per_address_max = 9;
  Echo echo(limits);
  std::vector<std::unique_ptr<HttpClient>> slow;
  for (int i = 0; i < 12; ++i) {
    slow.push_back(std::make_unique<HttpClient>(echo.port()));
    if (i % 2 == 0) slow.back()->send("GET ");
    const HttpAnswer answer = echo.ask(http_request("/asks"));
    EXPECT_EQ(answer.body, "path /asks\n") << i;
  }
  EXPECT_EQ(slow.front()->read_to_end(), "") << "the oldest went first";
  ASSERT_TRUE(slow.back()->send("GET /late HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  EXPECT_EQ(slow.back()->read().body, "path /late\n") << "the newest is still there";
}

TEST(Listener, OneAddressHasItsOwnLimit) {
  Limits limits = patient;
  limits.connections_max = 8;
  limits.connections_per_address_max = 2;
  Echo echo(limits);
  HttpClient first(echo.port());
  HttpClient second(echo.port());
  ASSERT_TRUE(first.send(http_request("/big")));
  ASSERT_TRUE(second.send(http_request("/big")));
  ASSERT_TRUE(first.readable(10s) && second.readable(10s));
  HttpClient third(echo.port());
  EXPECT_EQ(third.read_to_end(), "") << "closed at once, not kept waiting";
  EXPECT_EQ(first.read().status, 200);
}

TEST(Listener, AKeptConnectionMakesRoomForAWaitingOne) {
  Limits limits = patient;
  limits.connections_max = 2;
  Echo echo(limits);
  HttpClient kept(echo.port());
  kept.send(http_request("/kept"));
  EXPECT_EQ(kept.read().status, 200);
  HttpClient busy(echo.port());
  ASSERT_TRUE(busy.send("GET "));
  HttpClient third(echo.port());
  ASSERT_TRUE(third.send(http_request("/third")));
  EXPECT_EQ(third.read().body, "path /third\n");
  EXPECT_EQ(kept.read_to_end(), "");
}

TEST(Listener, SlotsOfSilentClientsComeBack) {
  Limits limits = patient;
  limits.connections_max = 2;
  limits.request_time = 200ms;
  Echo echo(limits);
  std::vector<std::unique_ptr<HttpClient>> silent;
  for (int i = 0; i < 6; ++i) silent.push_back(std::make_unique<HttpClient>(echo.port()));
  EXPECT_EQ(echo.ask(http_request("/last")).body, "path /last\n");
}

// accept() fails with EMFILE while the process has no descriptor left, and works again afterwards.
TEST(Listener, SurvivesRunningOutOfDescriptors) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP()
      << "the undefined-behaviour sanitizer needs a pipe to look at virtual tables, and takes its lack for a bug";
#endif
  Echo echo;
  HttpClient client;
  const int free = ::dup(0);
  ASSERT_GE(free, 0);
  ::close(free);
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  struct rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(free);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const bool connected = client.connect(echo.port());  // the kernel connects; accept() is the listener's part
  client.send(http_request("/a"));
  const bool answered = client.readable(400ms);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(connected);
  EXPECT_FALSE(answered);
  EXPECT_EQ(client.read().body, "path /a\n");
}

}  // namespace
}  // namespace nustream::serve
