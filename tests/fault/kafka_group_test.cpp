// A member of a group as the event loop sees it, on a real broker. Partitions come and go, records come from where
// they were asked for, nothing is lost, and nothing from an earlier time is passed on.
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kafka_member.h"
#include "kafka_records.h"
#include "kafka_topics.h"

namespace nustream::tests {
namespace {

std::string topic_with(const std::vector<Values>& partitions) {
  const std::string broker = shared_broker().bootstrap();
  const std::string topic = fresh_name("input");
  create_topic(broker, topic, static_cast<int>(partitions.size()));
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    write_values(broker, topic, static_cast<int>(i), partitions[i]);
  }
  return topic;
}

TEST(KafkaGroup, ReadsEachPartitionFromWhereItIsStarted) {
  const std::string topic = topic_with({{"a0", "a1", "a2"}, {"b0", "b1"}});
  Member member(topic, fresh_name("group"));
  member.run_until([&] { return member.assigned.size() == 2; });
  EXPECT_EQ(member.times_assigned, 1);
  member.start(0, 1);
  member.run_until([&] { return member.ends.contains(0); });
  EXPECT_EQ(member.values, (std::map<int, Values>{{0, {"a1", "a2"}}}));
  EXPECT_EQ(member.ends, (std::map<int, std::int64_t>{{0, 3}}));
  member.start(1, 0);
  member.run_until([&] { return member.ends.contains(1); });
  EXPECT_EQ(member.values[1], (Values{"b0", "b1"}));
  write_values(shared_broker().bootstrap(), topic, 0, {"a3"});
  member.run_until([&] { return member.values[0].size() == 3; });
  EXPECT_TRUE(member.errors.empty());
}

// The event loop sleeps on the descriptor: a record that did not wake it would wait for the next one.
TEST(KafkaGroup, WakesTheDescriptorForEachRecord) {
  const std::string topic = topic_with({{}});
  Member member(topic, fresh_name("group"));
  member.start(0, 0);
  for (int i = 0; i < 50; ++i) {
    write_values(shared_broker().bootstrap(), topic, 0, {std::to_string(i)});
    member.run_until([&] { return member.values[0].size() == static_cast<std::size_t>(i) + 1; });
  }
}

// Where nothing happens, nothing wakes the loop: there is no busy polling.
TEST(KafkaGroup, LeavesTheDescriptorAloneOnAnIdleTopic) {
  const std::string topic = topic_with({{"only"}});
  Member member(topic, fresh_name("group"));
  member.start(0, 0);
  member.run_until([&] { return member.ends.contains(0); });
  int wakes = 0;
  const kafka::Deadline deadline = kafka::in(milliseconds(1500));
  while (std::chrono::steady_clock::now() < deadline) {
    pollfd waiting{member->descriptor(), POLLIN, 0};
    if (::poll(&waiting, 1, 100) > 0) {
      ++wakes;
      member.run_once(milliseconds(0));
    }
  }
  EXPECT_LE(wakes, 5);
}

// After an aborted batch the records come again, each once, and no later one slips in before.
TEST(KafkaGroup, StartsAgainAtAnOffsetThatWasReadBefore) {
  Values all;
  for (int i = 0; i < 3000; ++i) all.push_back(std::to_string(i));
  const std::string topic = topic_with({all});
  Member member(topic, fresh_name("group"));
  member.start(0, 0);
  for (const std::size_t back : {0U, 1U, 500U, 2999U, 7U}) {
    member.run_until([&] { return !member.values[0].empty(); });
    member.start(0, static_cast<std::int64_t>(back));
    member.values[0].clear();
    member.ends.clear();
    member.run_until([&] { return member.ends.contains(0); });
    EXPECT_EQ(member.values[0], Values(all.begin() + static_cast<std::ptrdiff_t>(back), all.end()));
  }
}

TEST(KafkaGroup, PausesAndResumesWithoutLosingARecord) {
  Values all;
  for (int i = 0; i < 5000; ++i) all.push_back(std::to_string(i));
  const std::string topic = topic_with({all});
  Member member(topic, fresh_name("group"));
  member.start(0, 0);
  Values seen;
  while (seen.size() < all.size()) {
    // Events are taken one at a time, so that the pause falls among records that were read ahead.
    member.run_until([&] { return !member.values[0].empty() || member.ends.contains(0); });
    ASSERT_FALSE(member->pause(PartitionIndex{0}));
    seen.insert(seen.end(), member.values[0].begin(), member.values[0].end());
    member.values[0].clear();
    member.run_once(milliseconds(20));
    EXPECT_TRUE(member.values[0].empty()) << "a record of a paused partition";
    ASSERT_FALSE(member->resume(PartitionIndex{0}));
    if (member.ends.contains(0) && seen.size() < all.size()) break;
  }
  EXPECT_EQ(seen, all);
}

TEST(KafkaGroup, ReadsCommittedRecordsOnlyAndReportsTheEndBehindAbortedOnes) {
  const std::string broker = shared_broker().bootstrap();
  const std::string topic = topic_with({{"plain"}});
  const auto producer = ready_producer(broker, fresh_name("producer"), {topic});
  begin(*producer);
  produce(*producer, topic, "aborted");
  wait_until([&] { return read_uncommitted_records(broker, topic).size() == 2; });
  abort(*producer);
  Member member(topic, fresh_name("group"));
  member.start(0, 0);
  // The partition holds a record, an aborted one and its control record.
  member.run_until([&] { return member.ends.contains(0) && member.ends[0] == 3; });
  EXPECT_EQ(member.values[0], Values{"plain"});
}

TEST(KafkaGroup, SharesPartitionsWithASecondMemberAndTakesThemBack) {
  const std::string topic = topic_with({{"a"}, {"b"}, {"c"}, {"d"}});
  const std::string group = fresh_name("group");
  constexpr milliseconds session = std::chrono::minutes(5);  // much longer than a busy machine takes
  Member first(topic, group);
  first.run_until([&] { return first.assigned.size() == 4; });
  for (int i = 0; i < 4; ++i) first.start(i, 0);
  first.run_until([&] { return first.ends.size() == 4; });
  {
    Member second(topic, group, {}, session);
    const auto run_both_until = [&](const std::function<bool()>& condition) {
      first.run_until([&] {
        second.run_once(milliseconds(10));
        return condition();
      });
    };
    run_both_until([&] { return second.assigned.size() == 2 && first.assigned.size() == 2; });
    // The protocol is cooperative: the first member keeps reading what it keeps, and gives up no more than it has to.
    EXPECT_EQ(first.times_revoked, 1);
    EXPECT_FALSE(first.lost);
    const int kept = *first.assigned.begin();
    const int moved = *second.assigned.begin();
    write_values(shared_broker().bootstrap(), topic, kept, {"kept"});
    run_both_until([&] { return first.values[kept].size() == 2; });
    second.start(moved, 0);
    run_both_until([&] { return second.ends.contains(moved); });
    EXPECT_EQ(second.values[moved].size(), 1U);
    second->begin_close();
    run_both_until([&] { return second->is_closed(); });
    EXPECT_TRUE(second.assigned.empty());
    EXPECT_GE(second.times_revoked, 1);
  }
  // The member left by itself, so that nobody waits for its session to end.
  const kafka::Deadline before_session_end = kafka::in(session - std::chrono::minutes(2));
  first.run_until([&] { return first.assigned.size() == 4; });
  EXPECT_LT(std::chrono::steady_clock::now(), before_session_end);
}

// A lane that is still committing keeps its partition until it says so.
TEST(KafkaGroup, WaitsForTheAnswerToARevocation) {
  const std::string topic = topic_with({{"a"}, {"b"}});
  const std::string group = fresh_name("group");
  Member first(topic, group);
  first.run_until([&] { return first.assigned.size() == 2; });
  first.answers_rebalances = false;
  Member second(topic, group);
  first.run_until([&] {
    second.run_once(milliseconds(10));
    return first.unanswered.has_value();
  });
  for (int i = 0; i < 50; ++i) {
    first.run_once(milliseconds(10));
    second.run_once(milliseconds(10));
  }
  EXPECT_TRUE(second.assigned.empty());
  ASSERT_FALSE(first->unassign(*first.unanswered));
  first.run_until([&] {
    second.run_once(milliseconds(10));
    return second.assigned.size() == 1;
  });
}

// An exception leaves a member so. An end that waited for an answer would wait for ever.
TEST(KafkaGroup, EndsWithoutTheAnswersThatItOwes) {
  const std::string topic = topic_with({{"a"}, {"b"}});
  const std::string group = fresh_name("group");
  const auto settings = settings_for(shared_broker().bootstrap(), {{"heartbeat.interval.ms", "100"}});
  const auto wait_for_assignment = [&](GroupConsumer& consumer) {
    wait_until([&] {
      const std::optional<Event> event = consumer.next();
      return event && std::holds_alternative<Assigned>(*event);
    });
  };
  for (int round = 0; round < 3; ++round) {
    GroupConsumer of_partitions(settings, {topic, group, ""});
    wait_for_assignment(of_partitions);
    if (round == 2) of_partitions.begin_close();
  }
  Member owner(topic, group);
  owner.run_until([&] { return owner.assigned.size() == 2; });
  owner.answers_rebalances = false;
  {
    GroupConsumer of_nothing(settings, {topic, group, ""});
    owner.run_until([&] {
      const std::optional<Event> event = of_nothing.next();
      return event && std::holds_alternative<Assigned>(*event);
    });
  }
  owner.run_until([&] { return owner.unanswered.has_value(); });
}

TEST(KafkaGroup, SeesAddedPartitions) {
  const std::string topic = topic_with({{"a"}});
  Member member(topic, fresh_name("group"));
  member.start(0, 0);
  add_partitions(shared_broker().bootstrap(), topic, 3);
  write_values(shared_broker().bootstrap(), topic, 2, {"new"});
  member.run_until([&] { return member.assigned.size() == 3; });
  member.start(2, 0);
  member.run_until([&] { return member.values[2] == Values{"new"}; });
}

TEST(KafkaGroup, ReportsAnOffsetThatTheLogDoesNotHold) {
  const std::string topic = topic_with({{"0", "1", "2", "3"}, {"other"}});
  delete_records(shared_broker().bootstrap(), topic, 0, 3);
  Member member(topic, fresh_name("group"));
  member.start(0, 1);
  member.start(1, 0);
  member.run_until([&] { return !member.errors.empty() && member.ends.contains(1); });
  EXPECT_EQ(member.errors[0].cause, Cause::offset_out_of_range) << member.errors[0].text;
  EXPECT_TRUE(member->start(PartitionIndex{0}, Offset{3})) << "the library has given the partition up";
  EXPECT_EQ(member.errors[0].topic, topic);
  EXPECT_EQ(kafka::exit_code(member.errors[0]), Exit::data);
  EXPECT_TRUE(member.values[0].empty());
}

TEST(KafkaGroup, ReportsATopicThatIsMissing) {
  Member member("no-such-input", fresh_name("group"));
  member.run_until([&] { return !member.errors.empty(); });
  EXPECT_EQ(member.errors[0].cause, Cause::unknown_topic) << member.errors[0].text;
  EXPECT_EQ(kafka::exit_code(member.errors[0]), Exit::configuration);
}

TEST(KafkaGroup, OffsetsAreCommittedByATransactionOfAMember) {
  const std::string broker = shared_broker().bootstrap();
  const std::string topic = topic_with({{"a", "b"}});
  const std::string group = fresh_name("group");
  Member member(topic, group);
  member.start(0, 0);
  member.run_until([&] { return member.ends.contains(0); });
  const kafka::GroupMetadata metadata = member->group_metadata();
  ASSERT_NE(metadata, nullptr);
  const auto producer = ready_producer(broker, fresh_name("producer"), {});
  const kafka::PartitionOffset offset{PartitionIndex{0}, Offset{2}};
  begin(*producer);
  succeed([&](kafka::Deadline deadline) { return producer->send_offsets(topic, {&offset, 1}, metadata, deadline); });
  commit(*producer);
  kafka::PartitionReader reader(settings_for(broker), kafka::Isolation::read_committed, group);
  EXPECT_EQ(reader.committed({topic, PartitionIndex{0}}, soon()), Offset{2});
}

// A member that the group has forgotten must not move the group's offsets, or the next owner would skip records.
TEST(KafkaGroup, OffsetsOfAnOldGenerationAreRefusedAndTheTransactionCanBeAborted) {
  const std::string broker = shared_broker().bootstrap();
  const std::string topic = topic_with({{"a"}, {"b"}});
  const std::string group = fresh_name("group");
  Member first(topic, group);
  first.run_until([&] { return first.assigned.size() == 2; });
  const kafka::GroupMetadata old_generation = first->group_metadata();
  Member second(topic, group);
  first.run_until([&] {
    second.run_once(milliseconds(10));
    return first.assigned.size() == 1 && second.assigned.size() == 1;
  });
  const auto producer = ready_producer(broker, fresh_name("producer"), {topic});
  const kafka::PartitionOffset offset{PartitionIndex{0}, Offset{1}};
  begin(*producer);
  produce(*producer, topic, "nothing");
  const kafka::Progress refused = finish([&](kafka::Deadline deadline) {
    return producer->send_offsets(topic, {&offset, 1}, old_generation, deadline);
  });
  ASSERT_NE(refused.error(), nullptr);
  EXPECT_EQ(refused.error()->cause, Cause::lost_membership) << refused.error()->text;
  EXPECT_EQ(refused.error()->remedy, Remedy::abort_transaction) << refused.error()->text;
  abort(*producer);
  begin(*producer);
  commit(*producer);
  kafka::PartitionReader reader(settings_for(broker), kafka::Isolation::read_committed, group);
  EXPECT_EQ(reader.committed({topic, PartitionIndex{0}}, soon()), std::nullopt);
}

TEST(KafkaGroup, TheCoordinatorConfirmsAMemberAndNoStranger) {
  const std::string topic = topic_with({{"a"}});
  const std::string group = fresh_name("group");
  Member member(topic, group);
  member->ask_membership(soon());
  member.run_until([&] { return !member.confirmations.empty(); });
  EXPECT_FALSE(member.confirmations.front()) << "it has not joined yet";
  member.run_until([&] { return member.assigned.size() == 1; });
  member.confirmations.clear();
  // The broker settles the assignment a moment after it is answered here.
  member.run_until([&] {
    if (member.confirmations.empty()) member->ask_membership(soon());
    member.run_until([&] { return !member.confirmations.empty(); });
    const bool confirmed = member.confirmations.front();
    member.confirmations.clear();
    return confirmed;
  });
  EXPECT_FALSE(member->assignment_lost());
  Member stranger("no-such-input", group);
  stranger->ask_membership(soon());
  stranger.run_until([&] { return !stranger.confirmations.empty(); });
  EXPECT_FALSE(stranger.confirmations.front()) << "it counts others only";
}

// Two instances were given the same name: the older one is over for good, with exit code 75.
TEST(KafkaGroup, AnOlderMemberOfTheSameInstanceIsFenced) {
  const std::string topic = topic_with({{"a"}});
  const std::string group = fresh_name("group");
  Member first(topic, group, "instance-1");
  first.run_until([&] { return first.assigned.size() == 1; });
  Member second(topic, group, "instance-1");
  second.run_until([&] {
    first.run_once(milliseconds(10));
    return second.assigned.size() == 1 && !first.errors.empty();
  });
  EXPECT_EQ(first.errors[0].cause, Cause::fenced_member) << first.errors[0].text;
  EXPECT_EQ(first.errors[0].remedy, Remedy::new_client);
  EXPECT_EQ(kafka::exit_code(first.errors[0]), Exit::locked);
}

}  // namespace
}  // namespace nustream::tests
