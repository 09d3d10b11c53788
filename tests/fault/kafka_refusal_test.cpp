// Brokers that refuse, are not there or do not answer: what is said, with which exit code, and how soon.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "campaign.h"
#include "expect_failure.h"
#include "kafka/group_consumer.h"
#include "kafka/partition_reader.h"
#include "kafka/producer.h"
#include "kafka/topic_checks.h"
#include "kafka_broker.h"
#include "kafka_records.h"
#include "kafka_support.h"
#include "kafka_topics.h"
#include "measured_time.h"

namespace nustream::tests {
namespace {

using kafka::Cause;
using kafka::Deadline;
using kafka::Error;
using kafka::Isolation;
using kafka::KafkaFailure;
using kafka::Offset;
using kafka::PartitionIndex;
using kafka::PartitionReader;
using kafka::Progress;
using kafka::Remedy;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using Values = std::vector<std::string>;

// This program has one broker with a listener for alice, who may do only what is granted.
KafkaCluster& guarded() {
  static KafkaCluster cluster({.sasl = true, .acl = true});
  return cluster;
}

kafka::ClientSettings as_alice(const std::string& password = sasl_password) {
  return settings_for(guarded().sasl(), {{"security.protocol", "sasl_plaintext"},
                                         {"sasl.mechanism", "PLAIN"},
                                         {"sasl.username", sasl_user},
                                         {"sasl.password", password}});
}

// An address where nobody listens.
kafka::ClientSettings nowhere() {
  return settings_for("127.0.0.1:9");
}

template <class Call>
KafkaFailure failure_of(Call call) {
  try {
    call();
  } catch (const KafkaFailure& failure) {
    return failure;
  }
  throw std::logic_error("the call was to fail");
}

std::optional<Error> first_error(kafka::GroupConsumer& consumer, seconds patience) {
  const Deadline deadline = kafka::in(patience);
  while (steady_clock::now() < deadline) {
    std::optional<kafka::Event> event = consumer.next();
    if (!event) {
      std::this_thread::sleep_for(milliseconds(5));
    } else if (const auto* error = std::get_if<kafka::ClientError>(&*event)) {
      return error->error;
    } else if (const auto* partition = std::get_if<kafka::PartitionError>(&*event)) {
      return partition->error;
    }
  }
  return std::nullopt;
}

TEST(KafkaRefusal, AWrongPasswordIsToldAtOnceWithoutThePassword) {
  const std::string wrong = "not-her-password-815";
  const Deadline deadline = kafka::in(std::chrono::minutes(10));
  kafka::TopicChecks checks(as_alice(wrong));
  const KafkaFailure failure = failure_of([&] { static_cast<void>(checks.partitions("any", deadline)); });
  EXPECT_EQ(failure.error().cause, Cause::authentication) << failure.what();
  EXPECT_EQ(failure.code(), Exit::permission);
  EXPECT_EQ(std::string(failure.what()).find(wrong), std::string::npos) << failure.what();
  EXPECT_NE(std::string(failure.what()).find("sasl."), std::string::npos) << failure.what();
  EXPECT_LT(steady_clock::now(), deadline - std::chrono::minutes(5)) << "its deadline was ten minutes away";
}

TEST(KafkaRefusal, AWrongPasswordIsWhatAProducerComplainsOf) {
  std::optional<Error> complaint;
  // The complaint has to be there before the deadline. If this machine is too busy for a deadline, a later one
  // follows.
  for (seconds patience(3); !complaint; patience *= 4) {
    ASSERT_LT(patience, seconds(300)) << "no complaint";
    const auto producer = kafka::transactional_producer(as_alice("wrong"), fresh_name("producer"), {"any"});
    const Deadline deadline = kafka::in(patience);
    Progress progress = producer->init(deadline);
    while (progress.is_again()) {
      if (const auto now = producer->complaint()) complaint = now;
      progress = producer->init(deadline);
    }
    ASSERT_NE(progress.error(), nullptr);
    EXPECT_NE(progress.error()->remedy, Remedy::call_again);
  }
  EXPECT_EQ(complaint->cause, Cause::authentication) << complaint->text;
  EXPECT_EQ(kafka::exit_code(*complaint), Exit::permission);
}

TEST(KafkaRefusal, AWrongPasswordIsAnEventOfAMember) {
  kafka::GroupConsumer consumer(as_alice("wrong"), {"any", "group", ""});
  const auto error = first_error(consumer, std::chrono::minutes(5));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->cause, Cause::authentication) << error->text;
}

TEST(KafkaRefusal, AWrongPasswordEndsAReading) {
  PartitionReader reader(as_alice("wrong"), Isolation::read_committed, "group");
  reader.start({"any", PartitionIndex{0}}, Offset{0}, Offset{1});
  const Progress progress =
      finish([&](Deadline) { return reader.read([](const kafka::Message&) {}, milliseconds(50)); });
  ASSERT_NE(progress.error(), nullptr);
  EXPECT_EQ(progress.error()->cause, Cause::authentication) << progress.error()->text;
}

TEST(KafkaRefusal, ATopicWithoutTheRightToDescribeItIsNotCalledMissing) {
  const std::string topic = fresh_name("secret");
  create_topic(guarded().direct(), topic);
  kafka::TopicChecks checks(as_alice());
  const KafkaFailure failure = failure_of([&] { static_cast<void>(checks.describe(topic, soon())); });
  EXPECT_EQ(failure.error().cause, Cause::authorization) << failure.what();
  EXPECT_EQ(failure.code(), Exit::permission);
  EXPECT_NE(std::string(failure.what()).find(topic), std::string::npos) << failure.what();
}

TEST(KafkaRefusal, AMemberWithoutTheRightToItsGroupIsToldSo) {
  const std::string topic = fresh_name("no-group");
  create_topic(guarded().direct(), topic);
  guarded().grant({"--operation", "Read", "--topic", topic});
  kafka::GroupConsumer consumer(as_alice(), {topic, "group-of-others", ""});
  const auto error = first_error(consumer, std::chrono::minutes(5));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->cause, Cause::authorization) << error->text;
  EXPECT_EQ(kafka::exit_code(*error), Exit::permission);
}

TEST(KafkaRefusal, ATransactionalIdOfOthersIsRefusedForGood) {
  const auto producer = kafka::transactional_producer(as_alice(), "id-of-others", {});
  const Progress progress = finish([&](Deadline deadline) { return producer->init(deadline); });
  ASSERT_NE(progress.error(), nullptr);
  EXPECT_EQ(progress.error()->cause, Cause::authorization) << progress.error()->text;
  EXPECT_EQ(progress.error()->remedy, Remedy::none);
}

// The dead-letter topic may lose its ACL at any time; the batch is computed again without it.
TEST(KafkaRefusal, ATopicThatMayNotBeWrittenToFailsTheTransactionAndNotTheNextProducer) {
  const std::string allowed = fresh_name("allowed");
  const std::string refused = fresh_name("refused");
  create_topic(guarded().direct(), allowed);
  create_topic(guarded().direct(), refused);
  const std::string id = fresh_name("alice");
  guarded().grant({"--operation", "Write", "--operation", "Describe", "--transactional-id", id});
  guarded().grant({"--operation", "Write", "--topic", allowed});
  guarded().grant({"--operation", "Describe", "--topic", refused});
  for (int round = 0; round < 3; ++round) {
    const auto make = [&] { return kafka::transactional_producer(as_alice(), id, {allowed, refused}); };
    auto producer = make();
    succeed([&](Deadline deadline) { return producer->init(deadline); });
    begin(*producer);
    produce(*producer, allowed, "lost " + std::to_string(round));
    const std::optional<Error> at_once = producer->produce({.topic = refused, .value = "dead letter"});
    const Progress failed =
        at_once ? Progress::failed(*at_once) : finish([&](Deadline deadline) { return producer->commit(deadline); });
    ASSERT_NE(failed.error(), nullptr);
    EXPECT_EQ(failed.error()->cause, Cause::authorization) << failed.error()->text;
    EXPECT_EQ(failed.error()->remedy, Remedy::new_client) << failed.error()->text;
    producer = make();
    succeed([&](Deadline deadline) { return producer->init(deadline); });
    begin(*producer);
    produce(*producer, allowed, "kept " + std::to_string(round));
    commit(*producer);
  }
  EXPECT_EQ(values_of(wait_for_committed_records(guarded().direct(), allowed, 3)),
            (Values{"kept 0", "kept 1", "kept 2"}));
}

TEST(KafkaRefusal, WithAllRightsAliceDoesItAll) {
  const std::string topic = fresh_name("open-to-alice");
  create_topic(guarded().direct(), topic);
  const std::string id = fresh_name("alice");
  guarded().grant({"--operation", "All", "--transactional-id", id});
  guarded().grant({"--operation", "All", "--topic", topic});
  guarded().grant({"--operation", "All", "--group", "alices"});
  kafka::TopicChecks checks(as_alice());
  EXPECT_EQ(checks.describe(topic, soon())->partitions, 1);
  const auto producer = kafka::transactional_producer(as_alice(), id, {topic});
  succeed([&](Deadline deadline) { return producer->init(deadline); });
  begin(*producer);
  produce(*producer, topic, "hers");
  commit(*producer);
  PartitionReader reader(as_alice(), Isolation::read_committed, "alices");
  Values values;
  reader.read_all({topic, PartitionIndex{0}}, Offset{0}, Offset{2}, soon(),
                  [&](const kafka::Message& message) { values.emplace_back(*message.record.value); });
  EXPECT_EQ(values, Values{"hers"});
}

TEST(KafkaRefusal, ABrokerThatIsDownIsUnavailableOnceTheDeadlineIsOver) {
  kafka::TopicChecks checks(nowhere());
  const KafkaFailure failure =
      failure_of([&] { static_cast<void>(checks.partitions("any", kafka::in(seconds(2)))); });
  EXPECT_EQ(failure.error().cause, Cause::unavailable) << failure.what();
  EXPECT_EQ(failure.code(), Exit::unavailable);
  EXPECT_NE(std::string(failure.what()).find("kafka.brokers"), std::string::npos) << failure.what();
}

TEST(KafkaRefusal, AProducerGivesABrokerThatIsDownUpAtItsDeadline) {
  const auto producer = kafka::transactional_producer(nowhere(), "id", {"any"});
  const Deadline deadline = kafka::in(seconds(2));
  int slices = 1;
  Progress progress = producer->init(deadline);
  for (; progress.is_again(); ++slices) progress = producer->init(deadline);
  ASSERT_NE(progress.error(), nullptr);
  EXPECT_EQ(kafka::exit_code(*progress.error()), Exit::unavailable) << progress.error()->text;
  EXPECT_EQ(progress.error()->remedy, Remedy::new_client);
  EXPECT_GT(slices, 1) << "a call gives its thread back before its deadline";
}

// The calls go on by themselves over a broker that dies and comes back: its errors can all be retried.
TEST(KafkaRefusal, ATransactionRidesOutABrokerThatIsKilled) {
  KafkaCluster cluster;
  const std::string topic = fresh_name("killed");
  create_topic(cluster.direct(), topic);
  const auto producer = ready_producer(cluster.bootstrap(), fresh_name("producer"), {topic});
  begin(*producer);
  produce(*producer, topic, "before");
  commit(*producer);
  begin(*producer);
  produce(*producer, topic, "during");
  cluster.kill();
  const Deadline deadline = kafka::in(std::chrono::minutes(10));
  std::optional<Error> complaint;
  wait_until([&] {
    EXPECT_TRUE(producer->commit(deadline).is_again());
    complaint = producer->complaint();
    return complaint.has_value();
  });
  EXPECT_EQ(complaint->cause, Cause::unavailable) << complaint->text;
  cluster.restart();
  const Progress committed = finish([&](Deadline until) { return producer->commit(until); }, deadline);
  ASSERT_TRUE(committed.is_done()) << committed.error()->text;
  EXPECT_FALSE(producer->complaint());
  EXPECT_EQ(values_of(wait_for_committed_records(cluster.direct(), topic, 2)), (Values{"before", "during"}));
}

TEST(KafkaRefusal, ATransactionRidesOutEachOfThreeBrokersInTurn) {
  KafkaCluster cluster({.brokers = 3});
  const std::string topic = fresh_name("three");
  create_topic(cluster.direct(), topic, 1, {}, 3);
  const auto producer = ready_producer(cluster.bootstrap(), fresh_name("producer"), {topic});
  Values expected;
  const std::size_t kills = campaign() ? 3 : 1;
  for (std::size_t broker = 0; broker < kills; ++broker) {
    begin(*producer);
    expected.push_back(std::to_string(broker));
    produce(*producer, topic, expected.back());
    cluster.kill(broker);
    const Progress committed =
        finish([&](Deadline until) { return producer->commit(until); }, kafka::in(std::chrono::minutes(10)));
    ASSERT_TRUE(committed.is_done()) << committed.error()->text;
    cluster.restart(broker);
  }
  EXPECT_EQ(values_of(wait_for_committed_records(cluster.direct(), topic, kills)), expected);
}

// The call itself may not come back: a coordinator that is missing in the wrong 15 ms is never looked for again.
TEST(KafkaRefusal, AFrozenBrokerHoldsUpNoSlice) {
  KafkaCluster cluster;
  const std::string topic = fresh_name("frozen");
  const std::string id = fresh_name("producer");
  create_topic(cluster.direct(), topic);
  PartitionReader reader(settings_for(cluster.bootstrap()), Isolation::read_committed, "group");
  EXPECT_EQ(reader.committed({topic, PartitionIndex{0}}, soon()), std::nullopt);
  auto producer = ready_producer(cluster.bootstrap(), id, {topic});
  const kafka::GroupMetadata nobody = metadata_of_nobody("group");
  const kafka::PartitionOffset offset{PartitionIndex{0}, Offset{7}};
  const auto send = [&](Deadline until) { return producer->send_offsets(topic, {&offset, 1}, nobody, until); };
  begin(*producer);
  produce(*producer, topic, "x");
  cluster.freeze();
  const Deadline deadline = kafka::in(seconds(30));
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(send(deadline).is_again()) << "a call gives its thread back before its deadline";
  }
  cluster.thaw();
  const Progress sent = finish(send, deadline);
  if (sent.error() != nullptr) {
    EXPECT_EQ(sent.error()->cause, Cause::timed_out) << sent.error()->text;
    EXPECT_EQ(sent.error()->remedy, Remedy::new_client) << sent.error()->text;
    producer = ready_producer(cluster.bootstrap(), id, {topic});
    begin(*producer);
    succeed(send);
  }
  commit(*producer);
  EXPECT_EQ(reader.committed({topic, PartitionIndex{0}}, soon()), Offset{7});
}

TEST(KafkaRefusal, AMemberComesBackAfterItsBrokerDid) {
  KafkaCluster cluster;
  const std::string topic = fresh_name("member");
  create_topic(cluster.direct(), topic);
  write_values(cluster.direct(), topic, 0, {"before"});
  kafka::GroupConsumer consumer(settings_for(cluster.bootstrap()), {topic, "group", ""});
  Values values;
  const auto run_until = [&](std::size_t count) {
    wait_until([&] {
      while (std::optional<kafka::Event> event = consumer.next()) {
        if (const auto* given = std::get_if<kafka::Assigned>(&*event)) {
          EXPECT_FALSE(consumer.assign(given->partitions));
          if (!given->partitions.empty()) {
            EXPECT_FALSE(consumer.start(PartitionIndex{0}, Offset{static_cast<std::int64_t>(values.size())}));
          }
        } else if (const auto* taken = std::get_if<kafka::Revoked>(&*event)) {
          EXPECT_FALSE(consumer.unassign(taken->partitions));
        } else if (const auto* message = std::get_if<kafka::Message>(&*event)) {
          values.emplace_back(*message->record.value);
        }
      }
      return values.size() == count;
    });
  };
  run_until(1);
  cluster.kill();
  const auto error = first_error(consumer, std::chrono::minutes(5));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->cause, Cause::unavailable) << error->text;
  EXPECT_EQ(error->remedy, Remedy::call_again);
  cluster.restart();
  write_values(cluster.direct(), topic, 0, {"after"});
  run_until(2);
  EXPECT_EQ(values, (Values{"before", "after"}));
}

TEST(KafkaRefusal, AMemberWhoseBrokerIsGoneEndsAllTheSame) {
  KafkaCluster cluster;
  const std::string topic = fresh_name("alone");
  create_topic(cluster.direct(), topic);
  const auto before = [&] {
    kafka::GroupConsumer consumer(settings_for(cluster.bootstrap()), {topic, "group", ""});
    wait_until([&] {
      const auto event = consumer.next();
      return event && std::holds_alternative<kafka::Assigned>(*event);
    });
    cluster.freeze();
    // The producer is left unanswered and unclosed, as an exception leaves it.
    return steady_clock::now();
  }();
  EXPECT_LT(steady_clock::now() - before, seconds(60) + busy_allowance()) << "the client alone waits on";
}

}  // namespace
}  // namespace nustream::tests
