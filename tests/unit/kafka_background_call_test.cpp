// Calls that take long, take for ever, or fail, and that are waited for in slices.
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "kafka/background_call.h"

namespace nustream::tests {
namespace {

using kafka::BackgroundCall;
using kafka::Cause;
using kafka::Error;
using kafka::Progress;
using kafka::Remedy;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

// Holds a call until the test lets it go. It is shared, because the background may outlive the test's own view of it.
using Gate = std::shared_ptr<std::atomic<bool>>;

Gate closed_gate() {
  return std::make_shared<std::atomic<bool>>(false);
}

BackgroundCall::Call through(Gate gate) {
  return [gate = std::move(gate)]() -> std::optional<Error> {
    while (!*gate) std::this_thread::sleep_for(milliseconds(1));
    return std::nullopt;
  };
}

Progress finish_call(BackgroundCall& call) {
  while (true) {
    Progress progress = call.wait("call", milliseconds(20));
    if (!progress.is_again()) return progress;
  }
}

TEST(BackgroundCall, SaysAgainUntilTheCallHasEnded) {
  BackgroundCall call;
  const Gate gate = closed_gate();
  call.start("call", through(gate), kafka::in(seconds(60)));
  EXPECT_FALSE(call.is_idle());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(call.wait("call", milliseconds(10)).is_again());
  *gate = true;
  EXPECT_TRUE(finish_call(call).is_done());
  EXPECT_TRUE(call.is_idle());
}

TEST(BackgroundCall, GivesTheErrorOfItsCallAndOfNoEarlierOne) {
  BackgroundCall call;
  for (int i = 0; i < 1000; ++i) {
    const bool fails = i % 3 == 0;
    call.start(
        "call",
        [fails]() -> std::optional<Error> {
          if (fails) return kafka::error_of(RD_KAFKA_RESP_ERR_PRODUCER_FENCED);
          return std::nullopt;
        },
        kafka::in(seconds(60)));
    const Progress progress = finish_call(call);
    ASSERT_EQ(progress.is_done(), !fails);
    if (fails) {
      ASSERT_EQ(progress.error()->cause, Cause::fenced);
    }
  }
}

TEST(BackgroundCall, GivesUpACallThatDoesNotComeBack) {
  const Gate gate = closed_gate();
  const auto used = std::make_shared<int>(0);
  const auto begun = steady_clock::now();
  {
    BackgroundCall call;
    call.start(
        "call", [gate, used, hold = through(gate)] { return hold(); }, kafka::in(milliseconds(50)));
    const Progress progress = finish_call(call);
    ASSERT_NE(progress.error(), nullptr);
    EXPECT_EQ(progress.error()->cause, Cause::timed_out);
    EXPECT_EQ(progress.error()->remedy, Remedy::new_client);
    EXPECT_GE(steady_clock::now() - begun, milliseconds(50) + BackgroundCall::grace);
  }
  // The object is gone, but what the call uses stays until the call comes back after all.
  EXPECT_EQ(used.use_count(), 2);
  *gate = true;
  const auto deadline = steady_clock::now() + seconds(30);
  while (used.use_count() > 1 && steady_clock::now() < deadline) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(used.use_count(), 1);
}

TEST(BackgroundCall, IsNotHeldUpByACallThatWasAbandoned) {
  const Gate gate = closed_gate();
  const auto used = std::make_shared<int>(0);
  {
    BackgroundCall call;
    call.start(
        "call", [gate, used, hold = through(gate)] { return hold(); }, kafka::in(seconds(60)));
    EXPECT_TRUE(call.wait("call", milliseconds(10)).is_again());
    call.abandon();
  }
  EXPECT_EQ(used.use_count(), 2) << "its object is gone before the call has come back";
  *gate = true;
}

TEST(BackgroundCall, IsDestroyedAfterTheCallUnderWay) {
  const Gate gate = closed_gate();
  const auto used = std::make_shared<int>(0);
  std::thread opener([gate] {
    std::this_thread::sleep_for(milliseconds(100));
    *gate = true;
  });
  {
    BackgroundCall call;
    call.start(
        "call", [gate, used, hold = through(gate)] { return hold(); }, kafka::in(seconds(60)));
  }
  EXPECT_TRUE(*gate);
  EXPECT_EQ(used.use_count(), 1);
  opener.join();
}

using BackgroundCallDeathTest = testing::Test;

TEST(BackgroundCallDeathTest, EndsTheProcessWhereAnotherCallBeginsBeforeTheEnd) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        BackgroundCall call;
        call.start("commit", through(closed_gate()), kafka::in(seconds(60)));
        static_cast<void>(call.wait("abort", milliseconds(1)));
      },
      "finished before another");
}

}  // namespace
}  // namespace nustream::tests
