// Where a partition ends, on a real broker: records, control records, aborted ones and gaps, at the end and before
// it.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "expect_failure.h"
#include "kafka/partition_reader.h"
#include "kafka_broker.h"
#include "kafka_records.h"
#include "kafka_support.h"
#include "kafka_topics.h"

namespace nustream::tests {
namespace {

using kafka::Isolation;
using kafka::Offset;
using kafka::PartitionIndex;
using kafka::PartitionReader;
using kafka::Progress;
using kafka::TopicPartition;
using kafka::Watermarks;
using std::chrono::milliseconds;
using Values = std::vector<std::string>;

PartitionReader reader(Isolation isolation, const std::string& group = "reader") {
  return PartitionReader(settings_for(shared_broker().bootstrap()), isolation, group);
}

TopicPartition first(const std::string& topic) {
  return {topic, PartitionIndex{0}};
}

std::string new_topic(const std::string& what, const TopicSettings& settings = {}) {
  const std::string topic = fresh_name(what);
  create_topic(shared_broker().bootstrap(), topic, 1, settings);
  return topic;
}

Values read_between(PartitionReader& from, const TopicPartition& partition, std::int64_t begin, std::int64_t end) {
  Values values;
  from.read_all(partition, Offset{begin}, Offset{end}, soon(),
                [&](const kafka::Message& message) { values.emplace_back(message.record.value.value_or("(null)")); });
  return values;
}

// A topic with one committed record at offset 0, its control record at 1, an aborted record at 2 and its control
// record at 3.
std::string topic_with_an_aborted_end() {
  const std::string broker = shared_broker().bootstrap();
  const std::string topic = new_topic("aborted-end");
  const auto producer = ready_producer(broker, fresh_name("producer"), {topic});
  begin(*producer);
  produce(*producer, topic, "committed");
  commit(*producer);
  begin(*producer);
  produce(*producer, topic, "aborted");
  wait_until([&] { return read_uncommitted_records(broker, topic).size() == 2; });
  abort(*producer);
  wait_until([&] { return stable_end(broker, topic) == 4; });
  return topic;
}

// The trap is that rd_kafka_position stays at 1, whatever is waited for.
TEST(KafkaReader, FindsTheEndBehindControlAndAbortedRecords) {
  const std::string topic = topic_with_an_aborted_end();
  PartitionReader committed = reader(Isolation::read_committed);
  const Watermarks ends = committed.watermarks(first(topic), soon());
  EXPECT_EQ(ends.low.value(), 0);
  EXPECT_EQ(ends.high.value(), 4);
  EXPECT_EQ(read_between(committed, first(topic), 0, 4), Values{"committed"});
  EXPECT_GE(committed.position().value(), 4);
  PartitionReader uncommitted = reader(Isolation::read_uncommitted);
  EXPECT_EQ(read_between(uncommitted, first(topic), 0, 4), (Values{"committed", "aborted"}));
}

TEST(KafkaReader, StopsAtTheEndItWasGiven) {
  const std::string topic = new_topic("bounded");
  write_values(shared_broker().bootstrap(), topic, 0, {"0", "1", "2", "3", "4"});
  PartitionReader from = reader(Isolation::read_committed);
  EXPECT_EQ(read_between(from, first(topic), 1, 3), (Values{"1", "2"}));
  EXPECT_EQ(from.position().value(), 3);
  EXPECT_EQ(read_between(from, first(topic), 3, 3), Values{});
  EXPECT_EQ(read_between(from, first(topic), 4, 5), Values{"4"});
  // The reader reads again, and backwards: each reading is independent of the others.
  EXPECT_EQ(read_between(from, first(topic), 0, 2), (Values{"0", "1"}));
}

TEST(KafkaReader, DoesNotGiveARecordThatFollowsOnTheEndAfterAGap) {
  const std::string topic = topic_with_an_aborted_end();
  write_values(shared_broker().bootstrap(), topic, 0, {"at the end"});
  PartitionReader from = reader(Isolation::read_committed);
  EXPECT_EQ(read_between(from, first(topic), 0, 4), Values{"committed"});
  EXPECT_EQ(read_between(from, first(topic), 1, 4), Values{});
  EXPECT_EQ(read_between(from, first(topic), 1, 5), Values{"at the end"});
}

TEST(KafkaReader, ReadsOnePartitionAfterAnother) {
  const std::string broker = shared_broker().bootstrap();
  const std::string one = new_topic("one");
  const std::string other = fresh_name("other");
  create_topic(broker, other, 3);
  write_values(broker, one, 0, {"one"});
  write_values(broker, other, 2, {"other", "more"});
  PartitionReader from = reader(Isolation::read_committed);
  EXPECT_EQ(read_between(from, first(one), 0, 1), Values{"one"});
  EXPECT_EQ(read_between(from, {other, PartitionIndex{2}}, 0, 2), (Values{"other", "more"}));
  EXPECT_EQ(read_between(from, {other, PartitionIndex{1}}, 0, 0), Values{});
  EXPECT_EQ(read_between(from, first(one), 0, 1), Values{"one"});
}

// A restore that did not wait would take the state before an open transaction for the last one.
TEST(KafkaReader, WaitsForAnOpenTransactionBelowTheEnd) {
  const std::string broker = shared_broker().bootstrap();
  const std::string topic = new_topic("open");
  const auto producer = ready_producer(broker, fresh_name("producer"), {topic});
  begin(*producer);
  produce(*producer, topic, "state");
  wait_until([&] { return read_uncommitted_records(broker, topic).size() == 1; });
  PartitionReader uncommitted = reader(Isolation::read_uncommitted);
  const Offset end = uncommitted.watermarks(first(topic), soon()).high;
  EXPECT_EQ(end.value(), 1);
  PartitionReader committed = reader(Isolation::read_committed);
  EXPECT_EQ(committed.watermarks(first(topic), soon()).high.value(), 0);
  Values values;
  const auto take = [&](const kafka::Message& message) { values.emplace_back(*message.record.value); };
  committed.start(first(topic), Offset{0}, end);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(committed.read(take, milliseconds(50)).is_again());
  EXPECT_EQ(values, Values{});
  commit(*producer);
  while (committed.read(take, milliseconds(50)).is_again()) continue;
  EXPECT_EQ(values, Values{"state"});
}

TEST(KafkaReader, EndsEvenWhereTheLastRecordsWereCompactedAway) {
  const std::string broker = shared_broker().bootstrap();
  const std::string topic = new_topic("compacted", {{"cleanup.policy", "compact"},
                                                    {"segment.ms", "100"},
                                                    {"min.cleanable.dirty.ratio", "0.001"},
                                                    {"max.compaction.lag.ms", "100"},
                                                    {"delete.retention.ms", "0"}});
  // There is a tombstone that compaction removes, and a last record that rolls the segment which held it.
  write_records(broker, topic, 0, {{.key = "a", .value = "1"}, {.key = "a", .value = "2"}, {.key = "a"}});
  PartitionReader from = reader(Isolation::read_committed);
  const Offset end = from.watermarks(first(topic), soon()).high;
  ASSERT_EQ(end.value(), 3);
  wait_until([&] {
    std::this_thread::sleep_for(milliseconds(300));
    write_records(broker, topic, 0, {{.key = "b", .value = "roll"}});
    return read_between(from, first(topic), 0, end.value()).empty();
  });
  EXPECT_GE(from.position(), end);
}

TEST(KafkaReader, SaysThatTheLogDoesNotHoldTheOffset) {
  const std::string broker = shared_broker().bootstrap();
  const std::string topic = new_topic("cut");
  write_values(broker, topic, 0, {"0", "1", "2", "3", "4", "5"});
  delete_records(broker, topic, 0, 4);
  PartitionReader from = reader(Isolation::read_committed);
  EXPECT_EQ(from.watermarks(first(topic), soon()).low.value(), 4);
  expect_failure(
      Exit::data, [&] { static_cast<void>(read_between(from, first(topic), 2, 6)); },
      "partition 0 of '" + topic + "'");
  EXPECT_EQ(read_between(from, first(topic), 4, 6), (Values{"4", "5"}));
  // Positions beyond the end fail as well: the topic was made anew, and is shorter than it was.
  expect_failure(Exit::data, [&] { static_cast<void>(read_between(from, first(topic), 100, 200)); });
}

TEST(KafkaReader, FindsTheFirstRecordOfATime) {
  const std::string topic = new_topic("times");
  constexpr std::int64_t noon = 1'700'000'000'000;
  write_records(shared_broker().bootstrap(), topic, 0,
                {{.value = "0", .milliseconds = noon},
                 {.value = "1", .milliseconds = noon + 1000},
                 {.value = "2", .milliseconds = noon + 1000},
                 {.value = "3", .milliseconds = noon + 5000}});
  PartitionReader from = reader(Isolation::read_committed);
  EXPECT_EQ(from.offset_at(first(topic), noon - 1, soon()), Offset{0});
  EXPECT_EQ(from.offset_at(first(topic), noon, soon()), Offset{0});
  EXPECT_EQ(from.offset_at(first(topic), noon + 1, soon()), Offset{1});
  EXPECT_EQ(from.offset_at(first(topic), noon + 1001, soon()), Offset{3});
  EXPECT_EQ(from.offset_at(first(topic), noon + 5001, soon()), std::nullopt);
}

TEST(KafkaReader, GivesTimesAndTheirKind) {
  const std::string broker = shared_broker().bootstrap();
  const std::string produced = new_topic("create-time");
  const std::string appended = new_topic("append-time", {{"message.timestamp.type", "LogAppendTime"}});
  constexpr std::int64_t noon = 1'700'000'000'000;
  PartitionReader from = reader(Isolation::read_committed);
  const auto read_time = [&](const std::string& topic) {
    write_records(broker, topic, 0, {{.value = "x", .milliseconds = noon}});
    decode::Message found;
    from.read_all(first(topic), Offset{0}, Offset{1}, soon(), [&](const kafka::Message& message) {
      found.milliseconds = message.record.milliseconds;
      found.time_kind = message.record.time_kind;
    });
    return found;
  };
  EXPECT_EQ(read_time(produced).milliseconds, noon);
  EXPECT_EQ(read_time(produced).time_kind, decode::TimeKind::producer);
  EXPECT_GT(read_time(appended).milliseconds, noon + 86'400'000);
  EXPECT_EQ(read_time(appended).time_kind, decode::TimeKind::broker);
}

TEST(KafkaReader, GivesKeysHeadersAndTombstones) {
  const std::string topic = new_topic("whole");
  write_records(
      shared_broker().bootstrap(), topic, 0,
      {{.key = "k", .value = std::string("v\0w", 3), .headers = {{"h", "1"}, {"h", "2"}, {"n", {}}, {"e", ""}}},
       {.key = "gone"},
       {.value = ""}});
  PartitionReader from = reader(Isolation::read_committed);
  decode::MessageBatch batch;
  std::vector<std::string> seen;
  from.read_all(first(topic), Offset{0}, Offset{3}, soon(), [&](const kafka::Message& message) {
    batch.clear();
    kafka::add_to(batch, message, true);
    const decode::Message& record = batch.messages()[0];
    std::ostringstream line;
    line << record.offset << ' ' << record.key.value_or("(null)") << ' ' << record.value.value_or("(null)");
    for (const decode::MessageHeader& header : record.headers) {
      line << ' ' << header.name << '=' << header.value.value_or("(null)");
    }
    seen.push_back(line.str());
    batch.clear();
    kafka::add_to(batch, message, false);
    EXPECT_TRUE(batch.messages()[0].headers.empty());
  });
  EXPECT_EQ(seen, (Values{std::string("0 k v\0w", 7) + " h=1 h=2 n=(null) e=", "1 gone (null)", "2 (null) "}));
}

// A restart relies on this: the offset of a transaction that is about to be committed is waited for.
TEST(KafkaReader, TellsTheCommittedOffsetOnceNoTransactionIsAboutToChangeIt) {
  const std::string broker = shared_broker().bootstrap();
  const std::string topic = new_topic("offsets");
  const std::string group = fresh_name("group");
  PartitionReader from = reader(Isolation::read_committed, group);
  EXPECT_EQ(from.committed(first(topic), soon()), std::nullopt);
  const auto producer = ready_producer(broker, fresh_name("producer"), {});
  const kafka::GroupMetadata anybody = metadata_of_nobody(group);
  const kafka::PartitionOffset offset{PartitionIndex{0}, Offset{42}};
  begin(*producer);
  succeed([&](kafka::Deadline deadline) { return producer->send_offsets(topic, {&offset, 1}, anybody, deadline); });
  try {
    static_cast<void>(from.committed(first(topic), kafka::in(milliseconds(300))));
    ADD_FAILURE() << "an offset of an open transaction, or the one before it, was told";
  } catch (const kafka::KafkaFailure& failure) {
    EXPECT_EQ(failure.error().remedy, kafka::Remedy::call_again) << failure.what();
    EXPECT_EQ(failure.code(), Exit::unavailable);
  }
  commit(*producer);
  EXPECT_EQ(from.committed(first(topic), soon()), Offset{42});
}

TEST(KafkaReader, SaysThatATopicOrPartitionIsMissing) {
  PartitionReader from = reader(Isolation::read_committed);
  expect_failure(
      Exit::configuration, [&] { static_cast<void>(from.watermarks(first("no-such-topic"), soon())); },
      "partition 0 of 'no-such-topic'");
  const std::string topic = new_topic("small");
  expect_failure(
      Exit::configuration,
      [&] {
        static_cast<void>(from.watermarks({topic, PartitionIndex{1}}, soon()));
      },
      "partition 1 of '" + topic + "'");
}

// A topic of years takes long to read. What counts is that records go on coming.
TEST(PartitionReader, ReadsPatientlyForAsLongAsRecordsCome) {
  const std::string topic = new_topic("long");
  write_values(shared_broker().bootstrap(), topic, 0, Values(100, "value"));
  const TopicPartition partition = first(topic);
  PartitionReader long_reader(settings_for(shared_broker().bootstrap()), Isolation::read_committed, "patient");
  const auto slow = [](std::size_t& read, milliseconds pause) {
    return [&read, pause](const kafka::Message&) {
      ++read;
      std::this_thread::sleep_for(pause);
    };
  };
  // A machine that stands still for as long as the patience lasts proves nothing; the test then takes more of both.
  milliseconds patience{1000};
  std::size_t read = 0;
  while (read < 100) {
    ASSERT_LT(patience, std::chrono::minutes(1)) << "no record came";
    try {
      read = 0;
      long_reader.read_patiently(partition, Offset{0}, Offset{100}, patience, slow(read, patience / 50));
    } catch (const kafka::KafkaFailure&) {
      patience *= 4;
    }
  }
  EXPECT_EQ(read, 100U);
  read = 0;
  EXPECT_THROW(
      long_reader.read_all(partition, Offset{0}, Offset{100}, kafka::in(patience), slow(read, patience / 50)),
      kafka::KafkaFailure)
      << "a deadline stays one";
  // Where nothing comes, the reader gives up.
  EXPECT_THROW(long_reader.read_patiently(partition, Offset{100}, Offset{101}, patience, slow(read, patience / 50)),
               kafka::KafkaFailure);
}

}  // namespace
}  // namespace nustream::tests
