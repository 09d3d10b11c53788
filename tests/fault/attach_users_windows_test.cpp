// The attached service where users' limits hold within windows: they go by append time, or the service refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attach_windows_world.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

// The next owner's table is that of the open window: nobody counts again in it, and everybody does in the next one.
TEST(AttachUsersWindows, AreThoseOfTheSameTopicRecorded) {
  const AttachWindowsWorld world;
  const std::vector<std::string> values = AttachUsersWorld::values_of_users(1500);
  for (const std::size_t begin : {0U, 500U, 1000U}) {
    world.write_in_windows({values.begin() + static_cast<std::ptrdiff_t>(begin),
                            values.begin() + static_cast<std::ptrdiff_t>(begin + 500)},
                           2);
    const CommandResult part = world.run({"--until-end", "--insecure-seed", "7"});
    ASSERT_EQ(part.code, 0) << part.err;
  }
  EXPECT_THAT(joined(world.releases()), HasSubstr(R"("period":"PT1S","times":"append")"));
  EXPECT_GE(expect_same_estimates(world.releases(), world.replayed_as_recorded()), 25U);
}

// The topic that is made is one that attach takes.
TEST(AttachUsersWindows, AreGivenATopicWithTheBrokersTimes) {
  const AttachWindowsWorld world;
  const std::string input = world.name() + ".made";
  const CommandResult made =
      run_command(NUSTREAM_COMMAND, {"topics", world.config(), "--create", "--input", "--partitions", "1",
                                     "--replication", "1", "--set", "kafka.topic=\"" + input + "\""});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr(input + ": 1 partitions, 1 replicas cleanup.policy=delete "
                                          "message.timestamp.type=LogAppendTime\n"));
}

// A producer who dates a record ahead would make everybody's limits begin anew.
TEST(AttachUsersWindows, AreRefusedWhereProducersDateTheRecords) {
  const AttachWindowsWorld world;
  world.write(AttachUsersWorld::values_of_users(100));
  const CommandResult trusted =
      world.run({"--until-end", "--set", "users.times=\"trusted\"", "--set", "stream.time=\"@timestamp\""});
  EXPECT_EQ(trusted.code, 78) << trusted.err;
  EXPECT_THAT(trusted.err, HasSubstr("append time"));
  alter_topic(world.direct(), world.name(), {{"message.timestamp.type", "CreateTime"}});
  const CommandResult dated = world.run({"--until-end"});
  EXPECT_EQ(dated.code, 78) << dated.err;
  EXPECT_THAT(dated.err, HasSubstr("LogAppendTime"));
  // Records of a time before the topic was set right are refused, too.
  world.write(AttachUsersWorld::values_of_users(100));
  alter_topic(world.direct(), world.name(), {{"message.timestamp.type", "LogAppendTime"}});
  const CommandResult mixed = world.run({"--until-end"});
  EXPECT_EQ(mixed.code, 65) << mixed.err;
  EXPECT_THAT(mixed.err, HasSubstr("no append time"));
}

}  // namespace
}  // namespace nustream::tests
