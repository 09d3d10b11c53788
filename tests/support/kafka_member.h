// A member of a group, on a real broker.
#pragma once

#include <poll.h>

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "kafka/group_consumer.h"
#include "kafka_broker.h"
#include "kafka_support.h"

namespace nustream::tests {

using kafka::Assigned;
using kafka::Cause;
using kafka::ClientError;
using kafka::EndOfPartition;
using kafka::Error;
using kafka::Event;
using kafka::GroupConsumer;
using kafka::Message;
using kafka::Offset;
using kafka::PartitionError;
using kafka::PartitionIndex;
using kafka::Remedy;
using kafka::Revoked;
using std::chrono::milliseconds;
using Values = std::vector<std::string>;
using Partitions = std::vector<PartitionIndex>;

// A member that waits on its descriptor alone, as an event loop does, and answers rebalances at once.
class Member {
 public:
  Member(const std::string& topic, const std::string& group, const std::string& instance = {},
         milliseconds session = std::chrono::seconds(6))
      : consumer_(settings_for(shared_broker().bootstrap(), quick(session)), {topic, group, instance}) {}

  // Properties with which members hear of each other, and of new partitions, without long waits.
  static kafka::Properties quick(milliseconds session) {
    return {{"heartbeat.interval.ms", "100"},
            {"topic.metadata.refresh.interval.ms", "300"},
            {"session.timeout.ms", std::to_string(session.count())}};
  }

  GroupConsumer* operator->() { return &consumer_; }

  /// Waits for wake-ups and takes events until `condition` holds. Throws after two minutes.
  void run_until(const std::function<bool()>& condition) {
    const kafka::Deadline deadline = soon();
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline)
        throw std::runtime_error("a member waited in vain: " + summary());
      run_once(milliseconds(50));
    }
  }
  void run_once(milliseconds wait) {
    pollfd waiting{consumer_.descriptor(), POLLIN, 0};
    if (first_ || ::poll(&waiting, 1, static_cast<int>(wait.count())) > 0) {
      first_ = false;
      consumer_.acknowledge();
      while (std::optional<Event> event = consumer_.next()) take(*std::move(event));
    }
  }

  [[nodiscard]] std::string summary() const {
    std::ostringstream text;
    text << times_assigned << " times assigned, " << times_revoked << " times revoked, now";
    for (const int partition : assigned) text << ' ' << partition;
    for (const auto& [partition, seen] : values) text << "; " << seen.size() << " records of " << partition;
    for (const auto& [partition, end] : ends) text << "; end of " << partition << " at " << end;
    for (const Error& error : errors) text << "; " << error.text;
    return text.str();
  }

  /// Starts a partition, as soon as its assignment allows.
  void start(int partition, std::int64_t offset) {
    run_until([&] { return assigned.contains(partition); });
    while (const std::optional<Error> error = consumer_.start(PartitionIndex{partition}, Offset{offset})) {
      if (error->remedy != Remedy::call_again) throw std::runtime_error(error->text);
      run_once(milliseconds(10));
    }
  }

  std::set<int> assigned{};
  std::map<int, Values> values{};
  std::map<int, std::int64_t> ends{};  ///< the last ends that were reported
  int times_assigned = 0;
  int times_revoked = 0;
  bool lost = false;
  std::vector<Error> errors{};
  std::deque<bool> confirmations{};
  bool answers_rebalances = true;
  std::optional<Partitions> unanswered{};

 private:
  void take(Event event) {
    if (auto* message = std::get_if<Message>(&event)) {
      values[message->partition.value()].emplace_back(message->record.value.value_or("(null)"));
    } else if (auto* end = std::get_if<EndOfPartition>(&event)) {
      ends[end->partition.value()] = end->offset.value();
    } else if (auto* given = std::get_if<Assigned>(&event)) {
      ++times_assigned;
      for (const PartitionIndex partition : given->partitions) assigned.insert(partition.value());
      require_none(consumer_.assign(given->partitions));
    } else if (auto* taken = std::get_if<Revoked>(&event)) {
      ++times_revoked;
      lost = taken->lost;
      for (const PartitionIndex partition : taken->partitions) assigned.erase(partition.value());
      if (answers_rebalances) {
        require_none(consumer_.unassign(taken->partitions));
      } else {
        unanswered = taken->partitions;
      }
    } else if (auto* partition = std::get_if<PartitionError>(&event)) {
      errors.push_back(partition->error);
    } else if (auto* client = std::get_if<ClientError>(&event)) {
      errors.push_back(client->error);
    } else if (auto* membership = std::get_if<kafka::Membership>(&event)) {
      confirmations.push_back(membership->confirmed);
    }
  }
  static void require_none(const std::optional<Error>& error) {
    if (error) throw std::runtime_error(error->text);
  }

  GroupConsumer consumer_;
  bool first_ = true;
};

}  // namespace nustream::tests
