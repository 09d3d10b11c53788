// How a listener ends, at any moment: what becomes of requests in flight, and that nothing happens after.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "serve_echo.h"

namespace nustream::serve {
namespace {

TEST(Listener, StopFinishesWhatIsInFlightAndNoMore) {
  Echo echo;
  HttpClient idle(echo.port());
  idle.send(http_request("/idle"));
  EXPECT_EQ(idle.read().status, 200);
  HttpClient fresh(echo.port());
  HttpClient busy(echo.port());
  busy.send("GET /busy HTTP/1.1\r\n");
  // Whatever came before this request has now been accepted and read.
  EXPECT_EQ(echo.ask(http_request("/")).status, 200);
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
  loop.join();  // this hangs if work is left
  EXPECT_EQ(idle.read_to_end(), "");
}

// What the routes refer to is gone with the listener, so a request that is under way must not reach the routes.
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

/// A listener with four waiting requests, whose loop has gone a given number of steps. A test ends it between any two
/// of them, while requests are accepted, read or half answered.
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
  /// Whether the loop ends by itself, without waiting for a deadline of a minute: then no work is left.
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

}  // namespace
}  // namespace nustream::serve
