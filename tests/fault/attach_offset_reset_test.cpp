// Somebody resets the group's offsets by Kafka's own tool, between two runs of a service.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attach_promise.h"
#include "kafka_topics.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

std::size_t times(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// A step is never taken back: the state counts. The log says so at once, and how to read again.
TEST(AttachOffsetReset, IsSaidOnceAndNotFollowed) {
  const AttachWorld world;
  world.write(AttachWorld::values(300));
  ASSERT_EQ(world.run({"--until-end"}).code, 0);
  reset_group_offset(world.direct(), "nustream-" + world.name(), world.name(), 0, 10);
  world.write(AttachWorld::values(200, 2));
  const CommandResult result =
      world.run({"--until-end", "--set", "kafka.transaction_seconds=10", "--set", "log.format=\"text\""});
  EXPECT_EQ(result.code, 0) << result.err;
  const std::string sentence =
      "lane " + world.name() +
      "/0: the group's committed offset 10 is behind the state's 300: the state counts. The lane waits up to 10 s "
      "for an offset that may be on its way, and then goes on at offset 300. A reset of the group's offsets is not "
      "followed, since a step is never taken back: to read records again, stop, and begin in other topics or under "
      "another stream.name, where they are charged anew";
  EXPECT_THAT(result.err,
              HasSubstr(" level=warning event=offset_reset_seen lane=0 offset=10 msg=\"" + sentence + "\"\n"))
      << "the rest of the line is its time";
  EXPECT_EQ(times(result.err, "the state counts"), 1U) << result.err;
  EXPECT_EQ(ledger_end(world).steps, 500U);
  expect_one_value_a_step(world.releases_uncommitted());
}

// It looks like a state that was rolled back, so that the lane ends. Set back by the command that is told, it goes
// on.
TEST(AttachOffsetReset, ForwardIsSetBack) {
  const AttachWorld world;
  world.write(AttachWorld::values(300));
  ASSERT_EQ(world.run({"--until-end"}).code, 0);
  world.write(AttachWorld::values(200, 2));
  reset_group_offset(world.direct(), "nustream-" + world.name(), world.name(), 0, 400);
  const CommandResult refused =
      world.run({"--until-end", "--set", "kafka.transaction_seconds=10", "--set", "log.format=\"text\""});
  EXPECT_EQ(refused.code, 65) << refused.err;
  const std::string command = "kafka-consumer-groups --bootstrap-server " + shared_broker().bootstrap() +
                              " --group nustream-" + world.name() + " --topic " + world.name() +
                              ":0 --reset-offsets --to-offset 300 --execute";
  const std::string at_once = refused.err.substr(0, refused.err.find("event=lane_failed"));
  EXPECT_THAT(at_once,
              HasSubstr("refuses its state, which is older than what was committed (exit code 65): the state was "
                        "rolled back, or somebody has reset the group's offsets, which is not followed"));
  EXPECT_EQ(times(at_once, "to read records again"), 0U) << at_once;
  EXPECT_THAT(refused.err,
              HasSubstr("the group has committed offset 400, but the state is at 300: the state was rolled "
                        "back, or somebody has reset the group's offset; nothing was published: restore the state "
                        "topic, or begin a new noise epoch with --new-epoch. Only if you know who reset the offset, "
                        "and when, set it back (behind a state that was rolled back, what is released again would "
                        "not be charged): " +
                        command));
  reset_group_offset(world.direct(), "nustream-" + world.name(), world.name(), 0, 300);
  EXPECT_EQ(world.run({"--until-end"}).code, 0);
  EXPECT_EQ(ledger_end(world).steps, 500U);
}

}  // namespace
}  // namespace nustream::tests
