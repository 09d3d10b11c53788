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
  EXPECT_THAT(other_offset("orders/0", 10, 100, std::chrono::seconds(60)),
              AllOf(HasSubstr("lane orders/0: the group's committed offset 10 is behind the state's 100: the state "
                              "counts. The lane waits up to 60 s "),
                    HasSubstr("then goes on at offset 100. A reset of the group's offsets is not followed"),
                    HasSubstr("to read records again, stop")));
}

// The line gives no command: where the state was rolled back, setting the offset back would hide it.
TEST(OtherOffset, OneBeyondTheStateEndsTheLane) {
  EXPECT_THAT(other_offset("orders/0", 101, 100, std::chrono::milliseconds(1500)),
              AllOf(HasSubstr("offset 101 is beyond the state's 100"), HasSubstr("up to 2 s"),
                    HasSubstr("(exit code 65): the state was rolled back, or somebody has reset"),
                    Not(HasSubstr("to read records again")), Not(HasSubstr("--reset-offsets"))));
}

TEST(OtherOffset, TheCommandIsThatOfKafka) {
  const config::Topics topics{"in", "releases", "state", "ledger", "", ""};
  EXPECT_EQ(command_to_set_back("a:9092,b:9092", {"orders", LaneId{3}, "my group", topics}, 300),
            "kafka-consumer-groups --bootstrap-server a:9092,b:9092 --group 'my group' --topic in:3 --reset-offsets "
            "--to-offset 300 --execute");
}

}  // namespace
}  // namespace nustream::kafka
