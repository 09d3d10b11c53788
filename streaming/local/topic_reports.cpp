// Counts the reports of a topic in one loop over the consumer's events. Positions are kept in the collector's folder
// and committed with the sums; the group only keeps two collectors from reading at once. A message that comes again
// is known by its offset, and a report that comes again by its id.
#include "local/counting.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "console/signals.h"
#include "error.h"
#include "kafka/group_consumer.h"
#include "kafka/interruption.h"
#include "kafka/partition_reader.h"
#include "kafka/topic_checks.h"

namespace nustream::local {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr int events_per_round = 512;
constexpr milliseconds wait_max{100};  // a signal is noticed after this time at most
constexpr milliseconds probe{2'000};   // how long a broker has to answer

kafka::ClientSettings client_of(const config::Kafka& settings) {
  return {settings.brokers, settings.properties, &console::signalled()};
}

/// How far one partition is read, and where reading it may stop.
struct Partition {
  std::uint64_t next = 0;
  std::uint64_t end = 0;  ///< end of the log when the command began
  bool assigned = false;
  bool started = false;
};

class TopicReports {
 public:
  TopicReports(const Settings& settings, bool until_end, Counting& counting)
      : settings_(settings.kafka), until_end_(until_end), counting_(counting), checks_(client_of(settings_)) {
    look_at_topic();
    consumer_ = std::make_unique<kafka::GroupConsumer>(
        client_of(settings_), kafka::GroupMember{topic(), settings_.group, settings_.instance});
  }

  void run(const std::atomic<int>& signal) {
    bool first = true;
    while (signal == 0 && !is_finished()) {
      pollfd waiting{consumer_->descriptor(), POLLIN, 0};
      const int ready = ::poll(&waiting, 1, first || more_ ? 0 : static_cast<int>(wait_max.count()));
      if (ready > 0) consumer_->acknowledge();
      first = false;
      read_events();
      start_partitions();
      counting_.commit_if_due();
      look_for_broker();
    }
    counting_.commit();
    leave();
  }

 private:
  [[nodiscard]] const std::string& topic() const noexcept { return settings_.topics.input; }

  [[nodiscard]] kafka::TopicPartition place(std::size_t index) const {
    return {topic(), kafka::PartitionIndex{static_cast<std::int32_t>(index)}};
  }

  /// Finds the topic's partitions and their ends, and checks that the log still holds what comes next.
  void look_at_topic() {
    const kafka::Deadline deadline = kafka::in(settings_.give_up);
    const std::int32_t count = checks_.partitions(topic(), deadline).value_or(0);
    if (count == 0) {
      throw Failure(Exit::configuration, "topic '" + topic() + "' (kafka.topic) does not exist: check its name");
    }
    partitions_.resize(static_cast<std::size_t>(count));
    kafka::PartitionReader reader(client_of(settings_), kafka::Isolation::read_committed, settings_.group);
    for (std::size_t index = 0; index < partitions_.size(); ++index) {
      const kafka::Watermarks log = reader.watermarks(place(index), deadline);
      const auto low = static_cast<std::uint64_t>(log.low.value());
      const auto high = static_cast<std::uint64_t>(log.high.value());
      const std::uint64_t counted =
          counting_.folder().position(topic(), static_cast<std::uint32_t>(index)).value_or(low);
      if (counted > high) {
        throw Failure(
            Exit::data,
            fmt::format(
                "partition {} of '{}' ends at offset {}, but counting goes on at {}: the topic was cut or made anew; "
                "--from-start reads it again and counts what is new",
                index, topic(), high, counted));
      }
      if (counted < low) {
        fmt::print(stderr,
                   "nustream: warning: partition {} of '{}': offsets {} to {} are gone before they were counted: the "
                   "topic's retention deleted them, and their reports are in no sum\n",
                   index, topic(), counted, low - 1);
      }
      // Without a position of its own a partition is read from its first record that is still there.
      partitions_[index] = {.next = std::max(low, counted), .end = high};
    }
  }

  [[nodiscard]] bool is_finished() const {
    return until_end_ && std::ranges::all_of(partitions_, [](const Partition& one) { return one.next >= one.end; });
  }

  // A bounded number of events, so that commits and signals get their turn on a busy topic, too.
  void read_events() {
    more_ = true;
    for (int left = events_per_round; left > 0; --left) {
      std::optional<kafka::Event> event = consumer_->next();
      if (!event) {
        more_ = false;
        return;
      }
      std::visit([this](const auto& one) { handle(one); }, *event);
    }
  }

  [[nodiscard]] Partition& at(kafka::PartitionIndex partition) {
    const auto index = static_cast<std::size_t>(partition.value());
    // A partition that was added since is read from its first record.
    if (index >= partitions_.size()) partitions_.resize(index + 1);
    return partitions_[index];
  }

  // Notes that everything below the offset was used. Positions only grow: an event that comes late changes nothing.
  void move(kafka::PartitionIndex partition, kafka::Offset offset) {
    Partition& one = at(partition);
    const auto next = static_cast<std::uint64_t>(offset.value());
    if (next <= one.next) return;
    one.next = next;
    counting_.folder().set_position(topic(), static_cast<std::uint32_t>(partition.value()), next);
    trouble_since_.reset();
  }

  void handle(const kafka::Message& message) {
    Partition& one = at(message.partition);
    if (message.record.offset < one.next) return;  // the message comes a second time, as after a rebalance
    if (message.record.value) {
      counting_.use(*message.record.value);
    } else {
      counting_.reject(Reject::not_json);  // a tombstone has no value
    }
    move(message.partition, kafka::Offset{static_cast<std::int64_t>(message.record.offset) + 1});
  }

  // Control records and aborted ones have offsets, too. Without this a partition that ends with them would never be
  // finished.
  void handle(const kafka::EndOfPartition& end) { move(end.partition, end.offset); }

  void handle(const kafka::Assigned& assigned) {
    joined_ = true;
    trouble_since_.reset();
    require(consumer_->assign(assigned.partitions), "take partitions of '" + topic() + "'");
    for (const kafka::PartitionIndex partition : assigned.partitions) at(partition).assigned = true;
  }

  // Unless the session was over or the collector leaves, partitions go only where another member of the group wants
  // them. What was counted is committed before it stops.
  void handle(const kafka::Revoked& revoked) {
    for (const kafka::PartitionIndex partition : revoked.partitions) {
      at(partition).assigned = false;
      at(partition).started = false;
    }
    require(consumer_->unassign(revoked.partitions), "give back partitions of '" + topic() + "'");
    if (leaving_ || revoked.lost) return;  // a member whose session was over joins again
    counting_.commit();
    throw Failure(Exit::locked, "another member of group " + settings_.group + " took partitions of '" + topic() +
                                    "': the sums of one folder are counted by one collector; stop the other, or name "
                                    "another kafka.group");
  }

  void handle(const kafka::PartitionError& error) {
    throw kafka::KafkaFailure(fmt::format("read partition {} of '{}'", error.partition.value(), topic()),
                              error.error);
  }

  // A client mends most of its troubles by itself. Only what cannot get better ends the run at once; other troubles
  // do so when they last (look_for_broker()).
  void handle(const kafka::ClientError& error) {
    const kafka::Cause cause = error.error.cause;
    const bool refused = error.error.remedy == kafka::Remedy::none || cause == kafka::Cause::authentication ||
                         cause == kafka::Cause::authorization;
    const bool is_over = error.error.remedy == kafka::Remedy::new_client;
    if (is_over || (refused && !joined_))
      throw kafka::KafkaFailure("read '" + topic() + "' in group " + settings_.group, error.error);
    if (!trouble_since_) trouble_since_ = Clock::now();
  }

  void handle(const kafka::Membership&) {}

  static void require(const std::optional<kafka::Error>& error, const std::string& attempt) {
    if (error) throw kafka::KafkaFailure(attempt, *error);
  }

  // Reading begins at the folder's own positions, whatever the group has committed.
  void start_partitions() {
    for (std::size_t index = 0; index < partitions_.size(); ++index) {
      Partition& one = partitions_[index];
      if (!one.assigned || one.started) continue;
      const auto error = consumer_->start(place(index).partition, kafka::Offset{static_cast<std::int64_t>(one.next)});
      if (error && error->remedy == kafka::Remedy::call_again) continue;
      // The session is over and its event has not come yet: the library joins again, and assigns anew.
      if (error && error->cause == kafka::Cause::lost_membership) continue;
      require(error, fmt::format("read partition {} of '{}'", index, topic()));
      one.started = true;
    }
  }

  /// Where no event comes, the topic may be quiet or the broker away; a question to the broker tells which.
  void look_for_broker() {
    const Clock::time_point since = trouble_since_.value_or(joined_ ? Clock::now() : began_);
    if (Clock::now() - since < settings_.give_up) return;
    static_cast<void>(checks_.partitions(topic(), kafka::in(probe)));  // throws where none answers
    if (!joined_) {
      throw Failure(Exit::unavailable, "group " + settings_.group + " did not let this collector in within " +
                                           std::to_string(settings_.give_up.count() / 1000) +
                                           " s; start again, or name another kafka.group");
    }
    trouble_since_.reset();
  }

  // Leaves the group in order, so that the next collector need not wait for a session to end. The sums are committed
  // before.
  void leave() {
    leaving_ = true;
    consumer_->begin_close();
    const Clock::time_point deadline = Clock::now() + settings_.drain;
    while (!consumer_->is_closed() && Clock::now() < deadline) {
      pollfd waiting{consumer_->descriptor(), POLLIN, 0};
      if (::poll(&waiting, 1, 20) > 0) consumer_->acknowledge();
      while (true) {
        const std::optional<kafka::Event> event = consumer_->next();
        if (!event) break;
        if (const auto* revoked = std::get_if<kafka::Revoked>(&*event)) handle(*revoked);
        if (const auto* assigned = std::get_if<kafka::Assigned>(&*event)) handle(*assigned);
      }
    }
  }

  const config::Kafka& settings_;
  bool until_end_;
  Counting& counting_;
  kafka::TopicChecks checks_;
  std::vector<Partition> partitions_;
  std::unique_ptr<kafka::GroupConsumer> consumer_;
  std::optional<Clock::time_point> trouble_since_;
  Clock::time_point began_ = Clock::now();
  bool more_ = false;  // some events did not fit into the last round
  bool joined_ = false;
  bool leaving_ = false;
};

}  // namespace

void count_topic(const Settings& settings, bool until_end, Counting& counting, const std::atomic<int>& signal) {
  if (settings.kafka.brokers.empty()) {
    throw Failure(Exit::configuration, settings.file + ": kafka.brokers is missing; set it, or name them with -b");
  }
  kafka::check_properties(settings.kafka, settings.file);
  try {
    TopicReports(settings, until_end, counting).run(signal);
  } catch (const kafka::Cancelled&) {
    // A signal came while the command waited for brokers; nothing of the topic was being counted.
  }
}

}  // namespace nustream::local
