// What is said of a group's offset that somebody has reset.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kafka/lane_checks.h"

namespace nustream::kafka {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(OtherOffset, OneBehindTheStateIsNotFollowed) {
  EXPECT_THAT(other_offset("orders/0", 10, 100, std::chrono::seconds(60), "COMMAND"),
              AllOf(HasSubstr("lane orders/0: the group's committed offset 10 is behind the state's 100: the state "
                              "counts. The lane waits up to 60 s "),
                    HasSubstr("then goes on at offset 100. A reset of the group's offsets is not followed"),
                    HasSubstr("to read records again, stop"), Not(HasSubstr("COMMAND"))));
}

// Who skips records does not want to read any again: what helps is to set the offset back.
TEST(OtherOffset, OneBeyondTheStateEndsTheLane) {
  EXPECT_THAT(other_offset("orders/0", 101, 100, std::chrono::milliseconds(1500), "COMMAND"),
              AllOf(HasSubstr("offset 101 is beyond the state's 100"), HasSubstr("up to 2 s"),
                    HasSubstr("(exit code 65)"), HasSubstr("stop all instances, and set this one back with: COMMAND"),
                    Not(HasSubstr("to read records again"))));
}

TEST(OtherOffset, TheCommandIsThatOfKafka) {
  const config::Topics topics{"in", "releases", "state", "ledger", "", ""};
  EXPECT_EQ(command_to_set_back("a:9092,b:9092", {"orders", LaneId{3}, "my group", topics}, 300),
            "kafka-consumer-groups --bootstrap-server a:9092,b:9092 --group 'my group' --topic in:3 --reset-offsets "
            "--to-offset 300 --execute");
}

}  // namespace
}  // namespace nustream::kafka
