// What each topic has to be like, one function for each rule. A rule on which the promise rests refuses; a rule that
// only makes loss or waiting less likely warns. The reasons are in docs/kafka.md.
#include "attach/topic_requirements.h"

#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "config/nearest.h"
#include "error.h"
#include "kafka/topic_checks.h"

namespace nustream::attach {
namespace {

using kafka::TopicDescription;

// With three replicas, of which two have to have a record, one broker may fail without losing it.
constexpr std::int32_t replicas_wanted = 3;
constexpr std::int32_t insync_wanted = 2;
// The key file opens an old state just as it opens the present one, and an old state reveals old noise. So compaction
// should remove old states soon.
constexpr std::int64_t compaction_lag_wanted_ms = std::int64_t{24} * 3'600'000;
// For how long the process tries whether it may write dead letters. A partition without a leader at present tells
// nothing about that right, and is not waited for longer.
constexpr std::chrono::milliseconds write_check_max{5'000};

[[noreturn]] void refuse(const std::string& line) {
  throw Failure(Exit::configuration, line);
}

}  // namespace

std::string nearest_topic(const kafka::ClientSettings& client, const std::string& topic,
                          kafka::Deadline deadline) try {
  const std::vector<std::string> names = kafka::topic_names(client, deadline);
  // The other topics of a stream are often named after its input ("orders-state" after "orders"). So a name is near
  // only if it differs in at most a quarter of its letters.
  std::size_t nearest = std::max<std::size_t>(1, topic.size() / 4) + 1;
  std::string best;
  for (const std::string& name : names) {
    const std::size_t distance = config::edit_distance(topic, name);
    if (distance >= nearest || name == topic) continue;
    nearest = distance;
    best = name;
  }
  return best.empty() ? best : " (did you mean '" + best + "'?)";
} catch (const Failure&) {
  return {};  // the name is only a hint, so a failure to find it is not reported
}

namespace {

class Requirements {
 public:
  Requirements(const config::Config& config, std::chrono::milliseconds time, const std::atomic<bool>& cancelled)
      : config_(config),
        client_{config.kafka.brokers, config.kafka.properties, &cancelled},
        checks_(client_),
        deadline_(kafka::in(time)) {}

  TopicFacts check() {
    const config::Topics& topics = config_.kafka.topics;
    const TopicDescription input = described(topics.input, "kafka.topic");
    facts_.partitions = facts_.lanes_with_room = static_cast<std::uint32_t>(input.partitions);
    check_input(input);
    const TopicDescription state = lane_topic(topics.state, "kafka.state_topic");
    require_compacted(state, topics.state, "kafka.state_topic", "a state", "old states");
    check_old_states(state);
    const TopicDescription ledger = lane_topic(topics.ledger, "kafka.ledger_topic");
    if (ledger.cleanup_policy != "delete" || ledger.retention_ms != -1 || ledger.retention_bytes != -1) {
      refuse(fmt::format(
          "topic '{}' (kafka.ledger_topic) has cleanup.policy={}, retention.ms={}, retention.bytes={}: it "
          "has to keep every line: cleanup.policy=delete, retention.ms=-1, retention.bytes=-1",
          topics.ledger, ledger.cleanup_policy, ledger.retention_ms, ledger.retention_bytes));
    }
    lane_topic(topics.releases, "kafka.release_topic");
    if (!topics.dead_letters.empty()) check_dead_letters(described(topics.dead_letters, "kafka.dead_letter_topic"));
    if (!topics.model.empty()) written(topics.model, "kafka.model_topic");
    if (!topics.users.empty()) check_users(topics.users);
    if (!thin_topics_.empty()) {
      facts_.warnings.push_back(
          fmt::format("replication factor below {0} or min.insync.replicas below {1}: {2}: a broker that loses "
                      "acknowledged records could lose states or releases, which the promise does not cover; use {0} "
                      "replicas and min.insync.replicas={1}",
                      replicas_wanted, insync_wanted, thin_topics_));
    }
    const std::string client_max =
        kafka::property_in_force(client_, kafka::Role::transactional_producer, "message.max.bytes");
    facts_.record_bytes_max = std::min<std::size_t>(bytes_max_, std::stoull(client_max));
    facts_.letter_bytes_max = std::min<std::size_t>(facts_.letter_bytes_max, std::stoull(client_max));
    facts_.user_bytes_max = std::min<std::size_t>(facts_.user_bytes_max, std::stoull(client_max));
    return std::move(facts_);
  }

  /// Checks the input alone, where it exists.
  void check_input_alone() {
    const auto input = checks_.describe(config_.kafka.topics.input, deadline_);
    if (input) check_input(*input);
  }

 private:
  void check_input(const TopicDescription& input) const {
    check_input_kept(input);
    check_times(input);
  }

  TopicDescription described(const std::string& topic, const char* key) {
    const std::optional<TopicDescription> found = checks_.describe(topic, deadline_);
    if (!found) {
      const bool is_input = topic == config_.kafka.topics.input;
      refuse(fmt::format(
          "topic '{}' ({}) does not exist{}: check its name, or create it first with: nustream topics "
          "CONFIG --create{}",
          topic, key, nearest_topic(client_, topic, deadline_), is_input ? " --input --partitions N" : ""));
    }
    return *found;
  }

  TopicDescription written(const std::string& topic, const char* key) {
    TopicDescription found = described(topic, key);
    bytes_max_ = std::min(bytes_max_, static_cast<std::size_t>(std::max<std::int64_t>(found.max_message_bytes, 0)));
    check_replicas(found, topic);
    return found;
  }

  void check_replicas(const TopicDescription& found, const std::string& topic) {
    if (found.replication_factor >= replicas_wanted && found.min_insync_replicas >= insync_wanted) return;
    thin_topics_ += (thin_topics_.empty() ? "" : ", ") + topic;
  }

  TopicDescription lane_topic(const std::string& topic, const char* key) {
    TopicDescription found = written(topic, key);
    check_room(found, topic, key);
    return found;
  }

  /// Warns where a topic has fewer partitions than the input. Lane n writes to partition n. So lanes beyond the
  /// topic's partitions wait; the others run.
  void check_room(const TopicDescription& found, const std::string& topic, const char* key) {
    const auto room = static_cast<std::uint32_t>(found.partitions);
    if (room >= facts_.partitions) return;
    facts_.lanes_with_room = std::min(facts_.lanes_with_room, room);
    facts_.warnings.push_back(
        fmt::format("topic '{}' ({}) has {} partitions, the input {}: lanes from {} on wait until it has as many",
                    topic, key, room, facts_.partitions, room));
  }

  static void require_compacted(const TopicDescription& found, const std::string& topic, const char* key,
                                const char* needed, const char* old) {
    if (found.cleanup_policy == "compact") return;
    refuse(
        fmt::format("topic '{0}' ({1}) has cleanup.policy={2}: it has to be exactly \"compact\": with \"delete\" {3} "
                    "could be deleted, and without compaction {4} stay for ever; set it with: kafka-configs --alter "
                    "--entity-type topics --entity-name {0} --add-config cleanup.policy=compact",
                    topic, key, found.cleanup_policy, needed, old));
  }

  /// Checks the topic of users. Its record size bounds nothing else, since records of users are made to fit it.
  void check_users(const std::string& topic) {
    constexpr const char* key = "kafka.user_topic";
    const TopicDescription found = described(topic, key);
    require_compacted(found, topic, key, "what users have used up", "old counts of users");
    check_room(found, topic, key);
    check_replicas(found, topic);
    facts_.user_bytes_max = static_cast<std::size_t>(std::max<std::int64_t>(found.max_message_bytes, 0));
  }

  /// Warns where old states may stay in the topic for longer than a day.
  void check_old_states(const TopicDescription& state) {
    if (state.max_compaction_lag_ms <= compaction_lag_wanted_ms && state.segment_ms <= compaction_lag_wanted_ms) {
      return;
    }
    facts_.warnings.push_back(
        fmt::format("topic '{}': set max.compaction.lag.ms and segment.ms to a day or less, or "
                    "old states, which open old noise together with the key, stay for long",
                    config_.kafka.topics.state));
  }

  /// Checks the topic of dead letters. Letters are shortened to fit it, so its record size bounds nothing else. The
  /// right to write to it is tried here, because its lack would otherwise only show at the first record that cannot
  /// be used.
  void check_dead_letters(const TopicDescription& letters) {
    const std::string& topic = config_.kafka.topics.dead_letters;
    check_room(letters, topic, "kafka.dead_letter_topic");
    // The attempt has an id of its own, so that it fences no lane.
    kafka::require_right_to_write(client_, config_.stream + "/start", topic,
                                  std::min(deadline_, kafka::in(write_check_max)));
    // A topic without a limit takes records of any length.
    const auto room = letters.max_message_bytes >= 0 ? static_cast<std::size_t>(letters.max_message_bytes)
                                                     : std::numeric_limits<std::size_t>::max();
    facts_.letter_bytes_max = room;
    if (room > config_.kafka.dead_letter_bytes_max) return;
    facts_.warnings.push_back(
        fmt::format("topic '{}' takes records of {} bytes, kafka.dead_letter_bytes_max is {}: "
                    "longer dead letters are cut, headers and key before the value",
                    config_.kafka.topics.dead_letters, room, config_.kafka.dead_letter_bytes_max));
  }

  /// Refuses an input that is compacted: there, the key of one record decides whether another record is still there
  /// to be read.
  void check_input_kept(const TopicDescription& input) const {
    if (input.cleanup_policy.find("compact") == std::string::npos) return;
    refuse(
        fmt::format("topic '{}' (kafka.topic) has cleanup.policy={}: compaction removes records by their keys, so "
                    "that a record's key would show in what is left of the others; attach to a topic with "
                    "cleanup.policy=delete",
                    config_.kafka.topics.input, input.cleanup_policy));
  }

  /// Refuses a start or stop by time where the times are set by producers and not declared public: the offset that is
  /// found by such times would tell of records.
  void check_times(const TopicDescription& input) const {
    const config::Kafka& kafka = config_.kafka;
    // This has nothing to do with a start by time, but with what the input's times mean.
    check_windows(input);
    const bool by_time = std::holds_alternative<config::AtTime>(kafka.start) ||
                         (kafka.stop && std::holds_alternative<config::AtTime>(*kafka.stop));
    if (!by_time || config_.input.times_public || input.message_timestamp_type == "LogAppendTime") return;
    refuse(fmt::format(
        "topic '{}' keeps the producers' times, so that the offset that is found by a time would tell "
        "something of records; give an offset, or declare the times public with stream.times_public = true",
        kafka.topics.input));
  }

  /// Requires that windows of users go by the broker's append time. No producer can set that clock, and every topic
  /// can have it, so there is no need to trust another.
  void check_windows(const TopicDescription& input) const {
    if (!config_.users || !config_.users->limits->windows()) return;
    if (input.message_timestamp_type == "LogAppendTime") return;
    refuse(
        fmt::format("topic '{}' keeps the producers' times, and the windows of users.period go by append time: a "
                    "producer could date a record ahead and have everybody's limits begin anew; set "
                    "message.timestamp.type=LogAppendTime for it",
                    config_.kafka.topics.input));
  }

  const config::Config& config_;
  kafka::ClientSettings client_;
  kafka::TopicChecks checks_;
  kafka::Deadline deadline_;
  std::size_t bytes_max_ = std::numeric_limits<std::size_t>::max();
  std::string thin_topics_;
  TopicFacts facts_{};
};

}  // namespace

TopicFacts check_topics(const config::Config& config, std::chrono::milliseconds time,
                        const std::atomic<bool>& cancelled) {
  return Requirements(config, time, cancelled).check();
}

void require_input(const config::Config& config, std::chrono::milliseconds time) {
  const std::atomic<bool> cancelled = false;
  Requirements(config, time, cancelled).check_input_alone();
}

}  // namespace nustream::attach
