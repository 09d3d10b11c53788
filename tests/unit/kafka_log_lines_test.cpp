// The client library's log lines: each kind appears at most once a second, and each takes one line.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "kafka/log_lines.h"

namespace nustream::tests {
namespace {

using kafka::LineLimiter;
using std::chrono::milliseconds;

const LineLimiter::Time start{};

TEST(KafkaLog, PrintsOneLineOfAKindInASecondAndCountsTheOthers) {
  LineLimiter limiter;
  EXPECT_EQ(limiter.line("FAIL", "first", start), "kafka: FAIL: first");
  EXPECT_FALSE(limiter.line("FAIL", "second", start + milliseconds(1)));
  EXPECT_FALSE(limiter.line("FAIL", "third", start + milliseconds(999)));
  EXPECT_EQ(limiter.line("FAIL", "fourth", start + milliseconds(1000)), "kafka: FAIL: fourth (+2 more)");
  EXPECT_EQ(limiter.line("FAIL", "fifth", start + milliseconds(2000)), "kafka: FAIL: fifth");
}

TEST(KafkaLog, LimitsEachKindByItself) {
  LineLimiter limiter;
  EXPECT_TRUE(limiter.line("FAIL", "a", start));
  EXPECT_TRUE(limiter.line("FENCED", "b", start));
  EXPECT_FALSE(limiter.line("FAIL", "c", start));
}

TEST(KafkaLog, StaysOnOneLineOfBoundedLength) {
  LineLimiter limiter;
  const auto line = limiter.line("X", "two\nlines\t\x1b[31m and \x7f" + std::string(2000, 'x'), start);
  ASSERT_TRUE(line);
  EXPECT_TRUE(line->starts_with("kafka: X: two lines  [31m and  xxx")) << *line;
  EXPECT_EQ(line->find('\n'), std::string::npos);
  EXPECT_LT(line->size(), 530U);
}

}  // namespace
}  // namespace nustream::tests
