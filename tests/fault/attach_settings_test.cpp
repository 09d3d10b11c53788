// Starts that are refused, because topics and settings do not fit: each with its message and exit code, and nothing
// is published.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "attach_promise.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

TEST(AttachStart, ATopicThatIsMissingIs78AndNamesItsSetting) {
  const AttachWorld world;
  const CommandResult result = world.run({"-t", "nowhere"});
  EXPECT_EQ(result.code, 78) << result.err;
  EXPECT_THAT(result.err, HasSubstr("kafka.topic"));
}

TEST(AttachStart, AStateTopicThatIsNotCompactedIs78) {
  const AttachWorld world;
  create_topic(world.direct(), world.name() + ".plain");
  const CommandResult result = world.run({"--set", "kafka.state_topic=\"" + world.name() + ".plain\""});
  EXPECT_EQ(result.code, 78) << result.err;
  EXPECT_THAT(result.err, HasSubstr("cleanup.policy"));
}

TEST(AttachStart, AnInputThatIsCompactedIs78) {
  const AttachWorld world;
  for (const char* policy : {"compact", "compact,delete"}) {
    const std::string name = world.name() + fresh_name(".compacted");
    create_topic(world.direct(), name, 1, {{"cleanup.policy", policy}});
    const CommandResult result = world.run({"-t", name, "--until-end"});
    EXPECT_EQ(result.code, 78) << result.err;
    EXPECT_THAT(result.err, HasSubstr("compaction removes records by their keys"));
  }
}

TEST(AttachStart, ALedgerTopicThatForgetsLinesIs78) {
  const AttachWorld world;
  for (const auto& [setting, value] :
       TopicSettings{{"retention.ms", "604800000"}, {"retention.bytes", "1000000"}, {"cleanup.policy", "compact"}}) {
    SCOPED_TRACE(setting);
    TopicSettings settings{{"retention.ms", "-1"}};
    settings[setting] = value;
    const std::string name = fresh_name("forgetful");
    create_topic(world.direct(), name, 1, settings);
    const CommandResult result = world.run({"--set", "kafka.ledger_topic=\"" + name + "\""});
    EXPECT_EQ(result.code, 78) << result.err;
    EXPECT_THAT(result.err, HasSubstr(setting + "=" + value));
  }
}

TEST(AttachStart, AnOffsetBeyondTheEndIs78AndLeavesNothingBehind) {
  const AttachWorld world;
  world.write(AttachWorld::values(100));
  const CommandResult result = world.run({"--set", "kafka.start=101", "--until-end"});
  EXPECT_EQ(result.code, 78) << result.err;
  EXPECT_THAT(result.err, HasSubstr("kafka.start = 101 is beyond the end of the partition, 100"));
  EXPECT_TRUE(world.committed(world.name() + ".state").empty());
  const CommandResult at_end = world.run({"--set", "kafka.start=100", "--until-end"});
  EXPECT_EQ(at_end.code, 0) << at_end.err;
}

TEST(AttachStart, ADrainThatTheGroupWouldNotWaitForIs78) {
  const AttachWorld world;
  const CommandResult result = world.run({"--set", "kafka.drain_seconds=60", "-X", "max.poll.interval.ms=60000"});
  EXPECT_EQ(result.code, 78) << result.err;
  EXPECT_THAT(result.err, HasSubstr("kafka.drain_seconds = 60"));
}

TEST(AttachStart, ATimeBefore1970IsTheFirstRecord) {
  const AttachWorld world;
  world.write(AttachWorld::values(100));
  const CommandResult result =
      world.run({"--set", "kafka.start=\"1969-07-20T20:17:40Z\"", "--set", "stream.time=\"@timestamp\"", "--set",
                 "stream.times_public=true", "--until-end"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(ledger_end(world).steps, 100U);
}

TEST(AttachStart, AStateThatDoesNotFitItsTopicBesideItsReleasesIs78) {
  const AttachWorld world;
  const std::string small = world.name() + ".small";
  create_topic(world.direct(), small, 1, {{"cleanup.policy", "compact"}, {"max.message.bytes", "4000"}});
  const CommandResult result = world.run({"--set", "kafka.state_topic=\"" + small + "\"", "--until-end"});
  EXPECT_EQ(result.code, 78) << result.err;
  EXPECT_THAT(result.err, HasSubstr("a state has up to"));
  EXPECT_TRUE(read_uncommitted_records(AttachWorld::direct(), small).empty());
}

/// Records that are a second apart, the first at 2026-01-01T00:00:00Z.
std::vector<StoredRecord> timed(std::size_t first, std::size_t count) {
  std::vector<StoredRecord> records;
  for (std::size_t i = first; i < first + count; ++i) {
    records.push_back({.value = "1,2", .milliseconds = 1'767'225'600'000 + 1000 * static_cast<std::int64_t>(i)});
  }
  return records;
}

TEST(AttachStart, AStopIsKeptForAsLongAsTheSameOneIsAskedFor) {
  const AttachWorld world;
  write_records(world.direct(), world.name(), 0, timed(0, 300));
  std::uint64_t steps = 0;
  const auto expect_steps = [&](const std::vector<std::string>& arguments, std::uint64_t more, bool is_kept) {
    std::vector<std::string> all{"--set", "stream.time=\"@timestamp\"", "--set", "stream.times_public=true",
                                 "--set", "log.format=\"text\""};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const CommandResult result = world.run(all);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(ledger_end(world).steps, steps += more) << result.err;
    EXPECT_EQ(result.err.find("level=info event=lane_end_kept lane=0") != std::string::npos, is_kept) << result.err;
    EXPECT_EQ(result.err.find("was resolved to that offset") != std::string::npos, is_kept) << result.err;
  };
  const std::vector<std::string> at_100{"--set", "kafka.stop=\"2026-01-01T00:01:40Z\""};
  expect_steps(at_100, 100, false);
  expect_steps(at_100, 0, true);
  expect_steps({"--set", "kafka.stop=\"2026-01-01T00:03:20Z\""}, 100, false);
  expect_steps({"--until-end"}, 100, false);
  write_records(world.direct(), world.name(), 0, timed(300, 50));
  expect_steps({"--until-end"}, 50, false);
  expect_steps({"--set", "kafka.stop=350"}, 0, false);
}

// The mark of a transaction's end lies behind its last record, and the lane's position stays before the mark.
TEST(AttachStart, AnEndThatWasReachedIsResolvedAnewBehindATransaction) {
  const AttachWorld world;
  const auto write = [&](std::size_t records) {
    const auto producer = ready_producer(world.direct(), world.name() + "-writer", {world.name()});
    begin(*producer);
    for (const std::string& value : AttachWorld::values(records)) produce(*producer, world.name(), value);
    succeed([&](kafka::Deadline deadline) { return producer->commit(deadline); });
  };
  write(40);
  ASSERT_EQ(world.run({"--until-end"}).code, 0);
  EXPECT_EQ(ledger_end(world).steps, 40U);
  const CommandResult nothing_new = world.run({"--until-end"});
  EXPECT_EQ(nothing_new.code, 0) << nothing_new.err;
  EXPECT_EQ(ledger_end(world).steps, 40U);
  write(30);
  const CommandResult more = world.run({"--until-end"});
  EXPECT_EQ(more.code, 0) << more.err;
  EXPECT_EQ(ledger_end(world).steps, 70U) << more.err;
}

TEST(AttachStart, ABrokerThatIsDownIs69AfterTheTimeThatIsSet) {
  const AttachWorld world;
  const CommandResult result = world.run({"-b", "127.0.0.1:1", "--set", "kafka.give_up_seconds=1"});
  EXPECT_EQ(result.code, 69) << result.err;
}

// A limit of the brokers is no outage, and no fault of the client library: it is told at once, by the names of both
// sides.
TEST(AttachStart, ATimeThatTheBrokersDoNotAllowIs78AtOnce) {
  const AttachWorld world;
  world.write(AttachWorld::values(10));
  const auto before = std::chrono::steady_clock::now();
  const CommandResult transaction = world.run({"--until-end", "--set", "kafka.transaction_seconds=100000"});
  EXPECT_EQ(transaction.code, 78) << transaction.err;
  EXPECT_THAT(transaction.err, HasSubstr("lower kafka.transaction_seconds (transaction.timeout.ms), or raise "
                                         "transaction.max.timeout.ms of the brokers"));
  const CommandResult session =
      world.run({"--until-end", "-X", "session.timeout.ms=100", "-X", "heartbeat.interval.ms=50"});
  EXPECT_EQ(session.code, 78) << session.err;
  EXPECT_THAT(session.err, HasSubstr("group.min.session.timeout.ms"));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::minutes(2)) << "kafka.give_up_seconds is 300";
}

TEST(AttachStart, APropertyThatWouldBreakExactlyOnceIs78) {
  const AttachWorld world;
  const CommandResult result = world.run({"-X", "enable.auto.commit=true"});
  EXPECT_EQ(result.code, 78) << result.err;
  EXPECT_THAT(result.err, HasSubstr("enable.auto.commit"));
}

TEST(AttachStart, ATimeIsRefusedWhereTimesAreTheProducers) {
  const AttachWorld world;
  const CommandResult result = world.run({"--set", "kafka.start=\"2026-01-01T00:00:00Z\""});
  EXPECT_EQ(result.code, 78) << result.err;
  EXPECT_THAT(result.err, HasSubstr("times_public"));
}

TEST(AttachStart, NoKeyFileIs78) {
  const AttachWorld world;
  const CommandResult result = world.run({"--set", "state.key_file=\"\""});
  EXPECT_EQ(result.code, 78) << result.err;
}

}  // namespace
}  // namespace nustream::tests
