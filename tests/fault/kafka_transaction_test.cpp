// What a transaction promises, on a real broker: nothing shows before the commit, nothing ever shows after an abort,
// and there is one producer.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "kafka/producer.h"
#include "kafka_broker.h"
#include "kafka_records.h"
#include "kafka_support.h"
#include "kafka_topics.h"

namespace nustream::tests {
namespace {

using kafka::Cause;
using kafka::Deadline;
using kafka::Error;
using kafka::PartitionIndex;
using kafka::Producer;
using kafka::Progress;
using kafka::Remedy;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Values = std::vector<std::string>;

TEST(KafkaTransaction, IsReadableByReadCommittedAfterItsCommitOnly) {
  const std::string broker = shared_broker().bootstrap();
  const std::string topic = fresh_name("commit");
  create_topic(broker, topic);
  const auto producer = ready_producer(broker, fresh_name("producer"), {topic});
  begin(*producer);
  produce(*producer, topic, "a");
  produce(*producer, topic, "b");
  wait_until([&] { return read_uncommitted_records(broker, topic).size() == 2; });
  EXPECT_EQ(values_of(read_committed_records(broker, topic)), Values{});
  commit(*producer);
  EXPECT_EQ(values_of(wait_for_committed_records(broker, topic, 2)), (Values{"a", "b"}));
}

TEST(KafkaTransaction, ThatIsAbortedStaysReadableToReadUncommittedAlone) {
  const std::string broker = shared_broker().bootstrap();
  const std::string topic = fresh_name("abort");
  create_topic(broker, topic);
  const auto producer = ready_producer(broker, fresh_name("producer"), {topic});
  begin(*producer);
  produce(*producer, topic, "secret");
  wait_until([&] { return read_uncommitted_records(broker, topic).size() == 1; });
  abort(*producer);
  begin(*producer);
  produce(*producer, topic, "public");
  commit(*producer);
  EXPECT_EQ(values_of(wait_for_committed_records(broker, topic, 1)), Values{"public"});
  EXPECT_EQ(values_of(read_uncommitted_records(broker, topic)), (Values{"secret", "public"}));
}

// An abort could go wrong where records are still on their way.
TEST(KafkaTransaction, MayBeAbortedAtAnyMoment) {
  const std::string broker = shared_broker().bootstrap();
  for (const int records : {1, 100, 5000}) {
    const std::string topic = fresh_name("any-moment");
    create_topic(broker, topic);
    const auto producer = ready_producer(broker, fresh_name("producer"), {topic});
    for (int round = 0; round < 10; ++round) {
      begin(*producer);
      for (int i = 0; i < records; ++i) produce(*producer, topic, "aborted");
      std::this_thread::sleep_for(milliseconds(round));
      abort(*producer);
      begin(*producer);
      produce(*producer, topic, std::to_string(round));
      commit(*producer);
    }
    EXPECT_EQ(values_of(wait_for_committed_records(broker, topic, 10)),
              (Values{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}));
  }
}

TEST(KafkaTransaction, KeepsKeysHeadersAndNulls) {
  const std::string broker = shared_broker().bootstrap();
  const std::string topic = fresh_name("bytes");
  create_topic(broker, topic, 3);
  const auto producer = ready_producer(broker, fresh_name("producer"), {topic});
  const decode::MessageHeader headers[] = {{"reason", "not a number"}, {"empty", ""}, {"null", std::nullopt}};
  begin(*producer);
  ASSERT_FALSE(producer->produce({.topic = topic,
                                  .partition = PartitionIndex{2},
                                  .key = "a key",
                                  .value = std::string_view("\0\n", 2),
                                  .headers = headers}));
  ASSERT_FALSE(producer->produce({.topic = topic, .partition = PartitionIndex{2}, .key = "", .value = std::nullopt}));
  ASSERT_FALSE(producer->produce({.topic = topic, .partition = PartitionIndex{2}, .value = ""}));
  commit(*producer);
  const auto records = wait_for_committed_records(broker, topic, 3, 2);
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].key, "a key");
  EXPECT_EQ(records[0].value, std::string("\0\n", 2));
  ASSERT_EQ(records[0].headers.size(), 3U);
  EXPECT_EQ(records[0].headers[0].second, "not a number");
  EXPECT_EQ(records[0].headers[1].second, "");
  EXPECT_EQ(records[0].headers[2].second, std::nullopt);
  EXPECT_EQ(records[1].key, "");
  EXPECT_EQ(records[1].value, std::nullopt);
  EXPECT_EQ(records[2].key, std::nullopt);
  EXPECT_EQ(records[2].value, "");
}

// Without fencing, two owners of a lane would publish two values for one step.
TEST(KafkaTransaction, OfAnOlderProducerWithTheSameIdIsFenced) {
  const std::string broker = shared_broker().bootstrap();
  const std::string topic = fresh_name("fenced");
  create_topic(broker, topic);
  const std::string id = fresh_name("producer");
  const auto old_owner = ready_producer(broker, id, {topic});
  begin(*old_owner);
  produce(*old_owner, topic, "of the old owner");
  wait_until([&] { return read_uncommitted_records(broker, topic).size() == 1; });
  const auto new_owner = ready_producer(broker, id, {topic});
  const Progress late = finish([&](Deadline deadline) { return old_owner->commit(deadline); });
  ASSERT_NE(late.error(), nullptr);
  EXPECT_EQ(late.error()->cause, Cause::fenced) << late.error()->text;
  EXPECT_EQ(late.error()->remedy, Remedy::new_client) << late.error()->text;
  begin(*new_owner);
  produce(*new_owner, topic, "of the new owner");
  commit(*new_owner);
  EXPECT_EQ(values_of(wait_for_committed_records(broker, topic, 1)), Values{"of the new owner"});
}

TEST(KafkaTransaction, ThatOutlivesItsTimeIsFencedWithoutARival) {
  const std::string broker = shared_broker().bootstrap();
  const std::string topic = fresh_name("late");
  create_topic(broker, topic);
  const auto producer = ready_producer(broker, fresh_name("producer"), {topic}, {{"transaction.timeout.ms", "1000"}});
  begin(*producer);
  produce(*producer, topic, "too late");
  wait_until([&] { return read_uncommitted_records(broker, topic).size() == 1; });
  // The broker looks for such transactions every 500 ms; its abort ends the reader's wait for the stable end.
  wait_until([&] { return stable_end(broker, topic) >= 2; });
  const Progress late = finish([&](Deadline deadline) { return producer->commit(deadline); });
  ASSERT_NE(late.error(), nullptr);
  EXPECT_EQ(late.error()->remedy, Remedy::new_client) << late.error()->text;
  EXPECT_EQ(values_of(read_committed_records(broker, topic)), Values{});
}

TEST(KafkaTransaction, ThatABrokerRefusedARecordOfNamesTheTopicAndNeedsANewProducer) {
  const std::string broker = shared_broker().bootstrap();
  const std::string small = fresh_name("small");
  const std::string other = fresh_name("other");
  create_topic(broker, small, 1, {{"max.message.bytes", "1000"}});
  create_topic(broker, other);
  const std::string id = fresh_name("producer");
  auto producer = ready_producer(broker, id, {small, other});
  begin(*producer);
  produce(*producer, other, "state");
  produce(*producer, small, std::string(5000, 'x'));
  const Progress refused = finish([&](Deadline deadline) { return producer->commit(deadline); });
  ASSERT_NE(refused.error(), nullptr);
  EXPECT_EQ(refused.error()->cause, Cause::record_too_large) << refused.error()->text;
  EXPECT_EQ(refused.error()->remedy, Remedy::new_client) << refused.error()->text;
  EXPECT_EQ(refused.error()->topic, small);
  EXPECT_EQ(refused.error()->text.find("xxx"), std::string::npos) << refused.error()->text;
  producer = ready_producer(broker, id, {small, other});
  begin(*producer);
  produce(*producer, small, "small enough");
  produce(*producer, other, "state again");
  commit(*producer);
  EXPECT_EQ(values_of(wait_for_committed_records(broker, other, 1)), Values{"state again"});
  EXPECT_EQ(values_of(wait_for_committed_records(broker, small, 1)), Values{"small enough"});
}

TEST(KafkaTransaction, LeavesOutARecordThatTheClientRefuses) {
  const std::string broker = shared_broker().bootstrap();
  const std::string topic = fresh_name("client-limit");
  create_topic(broker, topic);
  const auto producer = ready_producer(broker, fresh_name("producer"), {topic}, {{"message.max.bytes", "2000"}});
  begin(*producer);
  const std::optional<Error> error = producer->produce({.topic = topic, .value = std::string(5000, 'x')});
  ASSERT_TRUE(error);
  EXPECT_EQ(error->cause, Cause::record_too_large);
  EXPECT_EQ(error->remedy, Remedy::none);
  produce(*producer, topic, "fits");
  commit(*producer);
  EXPECT_EQ(values_of(wait_for_committed_records(broker, topic, 1)), Values{"fits"});
}

TEST(KafkaTransaction, ToAPartitionThatIsNotThereIsRefused) {
  const std::string broker = shared_broker().bootstrap();
  const std::string topic = fresh_name("partitions");
  create_topic(broker, topic, 2);
  const auto producer = ready_producer(broker, fresh_name("producer"), {topic});
  begin(*producer);
  const std::optional<Error> error =
      producer->produce({.topic = topic, .partition = PartitionIndex{2}, .value = "nowhere"});
  ASSERT_TRUE(error);
  EXPECT_EQ(error->cause, Cause::unknown_topic) << error->text;
  EXPECT_EQ(error->topic, topic);
}

// The drain of an empty lane makes a commit without records or offsets.
TEST(KafkaTransaction, MayBeEmpty) {
  const std::string broker = shared_broker().bootstrap();
  const auto producer = ready_producer(broker, fresh_name("producer"), {});
  for (int i = 0; i < 3; ++i) {
    begin(*producer);
    commit(*producer);
    begin(*producer);
    abort(*producer);
  }
}

TEST(KafkaTransaction, TakesMoreRecordsThanTheReportsOfOneQueue) {
  const std::string broker = shared_broker().bootstrap();
  const std::string topic = fresh_name("many");
  create_topic(broker, topic);
  const auto producer =
      ready_producer(broker, fresh_name("producer"), {topic}, {{"queue.buffering.max.messages", "2000"}});
  begin(*producer);
  for (int i = 0; i < 20'000; ++i) produce(*producer, topic, std::to_string(i));
  commit(*producer);
  const auto records = wait_for_committed_records(broker, topic, 20'000);
  ASSERT_EQ(records.size(), 20'000U);
  for (std::size_t i = 0; i < records.size(); ++i) ASSERT_EQ(records[i].value, std::to_string(i));
}

}  // namespace
}  // namespace nustream::tests
