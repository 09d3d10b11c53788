// What a listener puts up with: every limit, every deadline, every refusal, over real sockets.
#include "serve/listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "expect_failure.h"
#include "nustream/base/error.h"
#include "serve_client.h"
#include "serve_loop.h"

namespace nustream::serve {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using tests::http_request;
using tests::HttpAnswer;
using tests::HttpClient;
using namespace std::chrono_literals;

/// Long enough that only a test's own deadline ever passes.
constexpr Limits patient{.request_time = 60s, .idle_time = 60s};

/// More than the sockets' buffers take: to be read by the client before the answer is sent.
constexpr std::size_t big = 16 << 20;

/// A listener on a loop of its own, whose routes answer with the path, or as some paths ask for.
class Echo {
 public:
  explicit Echo(const Limits& limits = patient, const Access& access = {}) {
    loop_.on_loop([&] {
      listener_.emplace(loop_.loop, Address{"127.0.0.1", 0}, limits, access, [this](std::string_view path) {
        ++answered;
        if (path == "/big") return Response{200, "text/plain", std::string(big, 'x')};
        if (path == "/throws") throw std::runtime_error("what an exception says stays inside");
        return Response{200, "text/plain; charset=utf-8", "path " + std::string(path) + "\n"};
      });
    });
  }
  ~Echo() { destroy(); }
  Echo(const Echo&) = delete;
  Echo& operator=(const Echo&) = delete;

  [[nodiscard]] std::uint16_t port() const { return listener_->port(); }
  void stop() {
    loop_.on_loop([this] { listener_->stop(); });
  }
  void destroy() {
    loop_.on_loop([this] { listener_.reset(); });
  }
  void join() { loop_.join(); }
  HttpAnswer ask(const std::string& request, bool bodyless = false) {
    HttpClient client(port());
    client.send(request);
    return client.read(bodyless);
  }

  std::atomic<int> answered{0};

 private:
  tests::ServeLoop loop_;
  std::optional<Listener> listener_;
};

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

// Closing a socket that holds unread bytes resets the connection; not every client then still finds the answer.
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

// Slow loris: a byte now and then must not move the deadline of the request. 400 bytes would take 20 s.
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

// The first request's deadline is its own: a kept connection must not bring its idle time to the next one.
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

// A client that never reads fills the buffers; the answer's own deadline ends it.
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

TEST(Listener, LetsNoMoreInThanItsLimit) {
  Limits limits = patient;
  limits.connections_max = 2;
  Echo echo(limits);
  HttpClient first(echo.port());
  HttpClient second(echo.port());
  ASSERT_TRUE(first.send("GET "));
  ASSERT_TRUE(second.send("GET "));
  HttpClient third(echo.port());
  ASSERT_TRUE(third.send(http_request("/third")));
  EXPECT_FALSE(third.readable(300ms)) << "it waits in the kernel's queue";
  first.send("/first HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const HttpAnswer answer = first.read();
  EXPECT_EQ(answer.body, "path /first\n");
  EXPECT_EQ(answer.headers.at("Connection"), "close") << "a full listener keeps nobody";
  EXPECT_EQ(first.read_to_end(), "");
  EXPECT_EQ(third.read().body, "path /third\n");
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

// accept() fails with EMFILE while the process has no descriptor left, and then works again.
TEST(Listener, SurvivesRunningOutOfDescriptors) {
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
  const bool connected = client.connect(echo.port());  // the kernel's part; accept is ours
  client.send(http_request("/a"));
  const bool answered = client.readable(400ms);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(connected);
  EXPECT_FALSE(answered);
  EXPECT_EQ(client.read().body, "path /a\n");
}

TEST(Listener, StopFinishesWhatIsInFlightAndNoMore) {
  Echo echo;
  HttpClient idle(echo.port());
  idle.send(http_request("/idle"));
  EXPECT_EQ(idle.read().status, 200);
  HttpClient fresh(echo.port());
  HttpClient busy(echo.port());
  busy.send("GET /busy HTTP/1.1\r\n");
  EXPECT_EQ(echo.ask(http_request("/")).status, 200);  // whatever came before it has been accepted and read
  std::this_thread::sleep_for(100ms);
  echo.stop();
  EXPECT_EQ(idle.read_to_end(), "");
  EXPECT_EQ(fresh.read_to_end(), "");
  HttpClient late;
  EXPECT_FALSE(late.connect(echo.port()));
  busy.send("Host: localhost\r\n\r\n");
  const HttpAnswer answer = busy.read();
  EXPECT_EQ(answer.body, "path /busy\n");
  EXPECT_EQ(answer.headers.at("Connection"), "close");
  EXPECT_EQ(busy.read_to_end(), "");
}

TEST(Listener, TheLoopRunsOutAfterStop) {
  tests::ServeLoop loop;
  std::optional<Listener> listener;
  loop.on_loop([&] {
    listener.emplace(loop.loop, Address{"127.0.0.1", 0}, patient, Access{}, [](std::string_view) {
      return Response{200, "text/plain", "x"};
    });
  });
  HttpClient idle(listener->port());
  idle.send(http_request("/"));
  EXPECT_EQ(idle.read().status, 200);
  loop.on_loop([&] { listener->stop(); });
  loop.join();  // hangs where something is left
  EXPECT_EQ(idle.read_to_end(), "");
}

// What the routes refer to is gone with the listener: a request that was under way must not reach them.
TEST(Listener, DestructionCutsRequestsOff) {
  Echo echo;
  HttpClient busy(echo.port());
  busy.send("GET /busy HTTP/1.1\r\n");
  EXPECT_EQ(echo.ask(http_request("/")).status, 200);
  echo.destroy();
  busy.send("Host: localhost\r\n\r\n");
  EXPECT_EQ(busy.read().status, 0);
  EXPECT_EQ(echo.answered, 1);
}

/// A listener with four requests waiting, whose loop has gone that many steps: to be ended between any two of them,
/// with requests accepted, read or half answered.
struct Interrupted {
  explicit Interrupted(int steps) {
    listener.emplace(loop, Address{"127.0.0.1", 0}, patient, Access{}, [this](std::string_view) {
      ++(listener ? answered : answered_after);
      return Response{200, "text/plain", "x"};
    });
    for (int i = 0; i < 4; ++i) {
      clients.push_back(std::make_unique<HttpClient>(listener->port()));
      clients.back()->send(http_request("/"));
    }
    for (int step = 0; step < steps; ++step) loop.poll_one();
  }
  /// Without waiting for a deadline of a minute: nothing is left.
  [[nodiscard]] bool loop_runs_out() {
    loop.run_for(10s);
    return loop.stopped();
  }

  boost::asio::io_context loop{1};
  std::optional<Listener> listener;
  std::vector<std::unique_ptr<HttpClient>> clients;
  int answered = 0;
  int answered_after = 0;
};
constexpr int steps_to_the_last_answer = 60;

TEST(Listener, ItsRoutesAreNotCalledOnceItIsGone) {
  for (int steps = 0; steps <= steps_to_the_last_answer; ++steps) {
    Interrupted world(steps);
    world.listener.reset();
    ASSERT_TRUE(world.loop_runs_out()) << "after " << steps << " steps";
    ASSERT_EQ(world.answered_after, 0) << "after " << steps << " steps";
  }
}

TEST(Listener, StopLeavesNothingWheneverItComes) {
  for (int steps = 0; steps <= steps_to_the_last_answer; ++steps) {
    Interrupted world(steps);
    world.listener->stop();
    ASSERT_TRUE(world.loop_runs_out()) << "after " << steps << " steps";
  }
  EXPECT_EQ(Interrupted(steps_to_the_last_answer).answered, 4) << "so many steps are enough";
}

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
