// Whoever waits for a commit learns how it ended, whatever ends it.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>

#include "error.h"
#include "expect_failure.h"
#include "journal/completion.h"

namespace nustream::tests {
namespace {

/// What a waiting thread gets of a completion that was called with `failure`: it must never be a promise that nobody
/// fulfilled.
void wait_for(const std::exception_ptr& failure, std::function<void()> then) {
  auto promise = std::make_shared<std::promise<void>>();
  std::future<void> ended = promise->get_future();
  journal::that_ends(std::move(promise), std::move(then))(failure);
  ASSERT_EQ(ended.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  ended.get();
}

const std::exception_ptr disk_is_full = std::make_exception_ptr(Failure(Exit::io, "the disk is full"));

TEST(Completion, DoesFirstWhatADurableCommitAsksFor) {
  int told = 0;
  wait_for(nullptr, [&] { ++told; });
  EXPECT_EQ(told, 1);
  EXPECT_NO_THROW(wait_for(nullptr, {}));
}

TEST(Completion, TellsTheCommitsFailureAndDoesNothingElse) {
  int told = 0;
  expect_failure(
      Exit::io, [&] { wait_for(disk_is_full, [&] { ++told; }); }, "the disk is full");
  EXPECT_EQ(told, 0);
}

TEST(Completion, TellsWhatFailsBehindTheCommit) {
  EXPECT_THROW(wait_for(nullptr, [] { throw std::bad_alloc(); }), std::bad_alloc);
}

}  // namespace
}  // namespace nustream::tests
