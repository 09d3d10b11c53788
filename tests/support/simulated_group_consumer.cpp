// The member of the group, on the simulated broker.
#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "simulated_kafka.h"

namespace nustream::kafka {
namespace {

/// What the simulation keeps of a consumer, beside the consumer's own lists.
struct Reading {
  std::string member;
  std::map<std::int32_t, std::int64_t> next;      ///< for partitions that are read
  std::map<std::int32_t, std::int64_t> told_end;  ///< the last end that the consumer was told
  std::deque<Event> answers;
  bool is_lost = false;
};

std::map<const GroupConsumer*, Reading>& readings() {
  static std::map<const GroupConsumer*, Reading> all;
  return all;
}

SimulatedBroker::Member& member_of(const GroupConsumer* consumer) {
  return broker().members[readings()[consumer].member];
}

}  // namespace

GroupMetadata metadata_of(const std::string& member, std::int64_t generation) {
  return GroupMetadata(rd_kafka_consumer_group_metadata_new_with_genid("group", static_cast<std::int32_t>(generation),
                                                                       member.c_str(), nullptr));
}

GroupConsumer::Descriptor::Descriptor() : value(-1) {}
GroupConsumer::Descriptor::~Descriptor() = default;

GroupConsumer::GroupConsumer(const ClientSettings& /*settings*/, const GroupMember& member)
    : topic_(member.topic), group_(member.group) {
  readings()[this].member = broker().process->name;
  broker().join(broker().process->name);
}

GroupConsumer::~GroupConsumer() {
  readings().erase(this);
}

int GroupConsumer::descriptor() const noexcept {
  return -1;
}
void GroupConsumer::acknowledge() noexcept {}

std::optional<Event> GroupConsumer::next() {
  broker().enter_call();
  if (broker().is_away()) return std::nullopt;
  Reading& reading = readings()[this];
  SimulatedBroker::Member& member = member_of(this);
  if (!reading.answers.empty()) {
    Event answer = std::move(reading.answers.front());
    reading.answers.pop_front();
    return answer;
  }
  if (!member.news.empty() && broker().chance(0.3)) {
    const auto [kind, partition] = member.news.front();
    if (kind != 'r') member.news.pop_front();
    member.generation = broker().generation;
    if (kind == 'a') {
      answer_owed_ = Answer::assign;
      return Assigned{{PartitionIndex{partition}}};
    }
    if (kind == 'l') {
      reading.is_lost = true;
      member.is_behind = !member.news.empty();
      answer_owed_ = Answer::unassign;
      return Revoked{{PartitionIndex{partition}}, true};
    }
    if (answer_owed_ == Answer::none) {
      answer_owed_ = Answer::unassign;
      return Revoked{{PartitionIndex{partition}}, false};
    }
  }
  if (member.news.empty() && !member.is_behind && broker().chance(0.2)) member.generation = broker().generation;
  for (auto& [partition, next] : reading.next) {
    if (states_[static_cast<std::size_t>(partition)].paused) continue;
    const Place place{topic_, partition};
    const std::int64_t end = broker().last_stable(place);
    while (next < end && !is_readable(place, next, Isolation::read_committed)) ++next;
    if (next < end) {
      Message message;
      message.partition = PartitionIndex{partition};
      message.record = message_at(place, next++);
      return message;
    }
    if (reading.told_end[partition] == end) continue;
    reading.told_end[partition] = end;
    return EndOfPartition{PartitionIndex{partition}, Offset{end}};
  }
  return std::nullopt;
}

std::optional<Error> GroupConsumer::assign(std::span<const PartitionIndex> partitions) {
  answer_owed_ = Answer::none;
  for (const PartitionIndex partition : partitions) state_of(partition) = {.assigned = true};
  return std::nullopt;
}

std::optional<Error> GroupConsumer::unassign(std::span<const PartitionIndex> partitions) {
  answer_owed_ = Answer::none;
  Reading& reading = readings()[this];
  SimulatedBroker::Member& member = member_of(this);
  for (const PartitionIndex partition : partitions) {
    state_of(partition) = {};
    reading.next.erase(partition.value());
    std::erase(member.news, std::pair('r', partition.value()));
    if (!reading.is_lost) member.assigned.erase(partition.value());
  }
  reading.is_lost = false;
  member.generation = ++broker().generation;
  return std::nullopt;
}

std::optional<Error> GroupConsumer::start(PartitionIndex partition, Offset offset) {
  broker().enter_call();
  if (!state_of(partition).assigned) return error(Cause::state, Remedy::none, "not assigned");
  if (assignment_lost()) return error(Cause::lost_membership, Remedy::none, "assignment lost");
  if (broker().is_away() || broker().chance(broker().faults.again / 4))
    return error(Cause::state, Remedy::call_again, "busy");
  state_of(partition).reading = true;
  state_of(partition).paused = false;
  readings()[this].next[partition.value()] = offset.value();
  readings()[this].told_end.erase(partition.value());
  return std::nullopt;
}

std::optional<Error> GroupConsumer::pause(PartitionIndex partition) {
  state_of(partition).paused = true;
  return std::nullopt;
}

/// Records that were read ahead come again, and more of them than have to.
std::optional<Error> GroupConsumer::resume(PartitionIndex partition) {
  state_of(partition).paused = false;
  const auto found = readings()[this].next.find(partition.value());
  if (found == readings()[this].next.end()) return std::nullopt;
  const auto again = static_cast<std::int64_t>(broker().draw(6));
  if (again > 0) broker().count("records that were given twice");
  found->second = std::max<std::int64_t>(0, found->second - again);
  return std::nullopt;
}

std::optional<Offset> GroupConsumer::known_end(PartitionIndex partition) const {
  return Offset{broker().end({topic_, partition.value()})};
}

GroupMetadata GroupConsumer::group_metadata() const {
  return metadata_of(readings()[this].member, member_of(this).generation);
}

bool GroupConsumer::assignment_lost() const noexcept {
  const auto& news = member_of(this).news;
  return readings()[this].is_lost ||
         std::any_of(news.begin(), news.end(), [](const auto& each) { return each.first == 'l'; });
}

void GroupConsumer::ask_membership(Deadline /*deadline*/) {
  const SimulatedBroker::Member& member = member_of(this);
  readings()[this].answers.push_back(Membership{!member.is_behind && !assignment_lost()});
}

void GroupConsumer::begin_close(std::chrono::milliseconds /*patience*/) {}
bool GroupConsumer::is_closed() const noexcept {
  return true;
}

GroupConsumer::PartitionState& GroupConsumer::state_of(PartitionIndex partition) {
  const auto index = static_cast<std::size_t>(partition.value());
  if (index >= states_.size()) states_.resize(index + 1);
  return states_[index];
}

}  // namespace nustream::kafka
