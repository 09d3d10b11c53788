// A stream that has run and stopped. A test then changes something that the stream's state does not know of.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attach_promise.h"

namespace nustream::tests {

/// A stream that has run over `first` records and stopped at their end.
class AttachContradiction : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.write(values_);
    ASSERT_EQ(world_.run({"--until-end"}).code, 0);
    before_ = world_.releases();
    ASSERT_FALSE(before_.empty());
  }
  void expect_refused(const std::vector<std::string>& arguments, int code, const std::string& text) {
    const CommandResult result = world_.run(arguments);
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_THAT(result.err, ::testing::HasSubstr(text));
    EXPECT_TRUE(world_.releases_uncommitted() == before_) << "something was published";
  }
  void lose_state() const {
    delete_topic(world_.direct(), topic("state"));
    create_topic(world_.direct(), topic("state"), 1, {{"cleanup.policy", "compact"}});
  }
  void lose_ledger() const {
    delete_topic(world_.direct(), topic("ledger"));
    create_topic(world_.direct(), topic("ledger"), 1, {{"retention.ms", "-1"}});
  }
  [[nodiscard]] std::string topic(const std::string& kind) const { return world_.name() + "." + kind; }

  const AttachWorld world_;
  const std::vector<std::string> values_ = AttachWorld::values(1200);
  std::vector<std::string> before_;
};

}  // namespace nustream::tests
