// `nustream topics`: which topics attach needs and with which settings (docs/kafka.md), what is there, and the making
// of those that are not. It never changes a topic that exists: a wrong setting is only told.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "attach/preflight.h"
#include "attach/topic_requirements.h"
#include "cli/commands.h"
#include "kafka/topic_checks.h"
#include "kafka/topic_maker.h"

namespace nustream::cli {
namespace {

using kafka::NewTopic;

// So that what a compacted topic no longer needs is taken away within about a day.
constexpr const char* one_day_ms = "86400000";

/// The settings that attach wants of the input. Compaction would remove records by their keys. Where limits of users
/// hold within windows, the windows go by the broker's time, which no producer can set.
std::map<std::string, std::string> settings_of_input(const config::Config& config) {
  std::map<std::string, std::string> settings{{"cleanup.policy", "delete"}};
  const bool has_windows = config.users && config.users->limits && config.users->limits->windows();
  if (has_windows) settings.emplace("message.timestamp.type", "LogAppendTime");
  return settings;
}

/// The topics of an attached stream with the settings that they should have. Each has as many partitions as the
/// input, so that a lane has the same partition in all of them; the combined model is one for all lanes.
std::vector<NewTopic> needed_topics(const config::Config& config, const TopicsArguments& arguments,
                                    std::int32_t partitions) {
  const config::Kafka& kafka = config.kafka;
  const auto replicas = static_cast<std::int32_t>(arguments.replication);
  const std::map<std::string, std::string> durable =
      // With three replicas, two have to have a record before it counts as written: it survives the loss of one
      // broker.
      replicas >= 3 ? std::map<std::string, std::string>{{"min.insync.replicas", "2"}}
                    : std::map<std::string, std::string>{};
  const auto with = [&](std::map<std::string, std::string> settings) {
    settings.insert(durable.begin(), durable.end());
    return settings;
  };
  const std::map<std::string, std::string> compact{
      {"cleanup.policy", "compact"}, {"max.compaction.lag.ms", one_day_ms}, {"segment.ms", one_day_ms}};
  // Retention is set by name, without a limit of age or size, because brokers' defaults differ.
  const std::map<std::string, std::string> kept{
      {"cleanup.policy", "delete"}, {"retention.ms", "-1"}, {"retention.bytes", "-1"}};
  std::vector<NewTopic> topics{{kafka.topics.releases, partitions, replicas, with(kept)},
                               {kafka.topics.state, partitions, replicas, with(compact)},
                               {kafka.topics.ledger, partitions, replicas, with(kept)}};
  // The input is somebody else's topic: --create makes it only where --input asks for that.
  if (arguments.input || !arguments.create) {
    topics.insert(topics.begin(), {kafka.topics.input, partitions, replicas, with(settings_of_input(config))});
  }
  if (!kafka.topics.dead_letters.empty())
    topics.push_back({kafka.topics.dead_letters, partitions, replicas, with({})});
  if (!kafka.topics.model.empty()) topics.push_back({kafka.topics.model, 1, replicas, with(compact)});
  if (!kafka.topics.users.empty()) topics.push_back({kafka.topics.users, partitions, replicas, with(compact)});
  return topics;
}

/// The settings of `found` that matter here, by the names that brokers use.
std::map<std::string, std::string> settings_of(const kafka::TopicDescription& found) {
  return {{"cleanup.policy", found.cleanup_policy},
          {"retention.ms", std::to_string(found.retention_ms)},
          {"retention.bytes", std::to_string(found.retention_bytes)},
          {"min.insync.replicas", std::to_string(found.min_insync_replicas)},
          {"max.compaction.lag.ms", std::to_string(found.max_compaction_lag_ms)},
          {"segment.ms", std::to_string(found.segment_ms)},
          {"max.message.bytes", std::to_string(found.max_message_bytes)},
          {"message.timestamp.type", found.message_timestamp_type}};
}

/// One line about a topic: its partitions, replicas and settings, such as "cleanup.policy=compact".
std::string line_of(std::string_view what, const NewTopic& topic) {
  std::string settings;
  for (const auto& [name, value] : topic.settings) settings += fmt::format(" {}={}", name, value);
  // For example "wanted: mine.state: 3 partitions, 3 replicas cleanup.policy=compact …".
  return fmt::format("{} {}: {} partitions, {} replicas{}\n", what, topic.name, topic.partitions,
                     topic.replication_factor, settings);
}

/// Describes a topic that exists: the settings that are wanted, those that are always shown, and what differs from
/// what is wanted.
std::string line_of_found(const NewTopic& wanted, const kafka::TopicDescription& found) {
  NewTopic there{wanted.name, found.partitions, found.replication_factor};
  std::string differing;
  const auto differs = [&](const std::string& what) { differing += (differing.empty() ? "" : ", ") + what; };
  // More partitions or replicas than wanted do no harm.
  if (found.partitions < wanted.partitions) differs(fmt::format("{} partitions", wanted.partitions));
  if (found.replication_factor < wanted.replication_factor) {
    differs(fmt::format("{} replicas", wanted.replication_factor));
  }
  for (const auto& [name, value] : settings_of(found)) {
    const auto asked = wanted.settings.find(name);
    const bool is_shown = asked != wanted.settings.end() || name == "cleanup.policy" || name == "retention.ms";
    if (is_shown) there.settings.emplace(name, value);
    if (asked != wanted.settings.end() && asked->second != value) differs(name + "=" + asked->second);
  }
  const std::string line = line_of(differing.empty() ? "there, as wanted:" : "there, and other than wanted:", there);
  return differing.empty() ? line : line + "  differs: wanted is " + differing + "\n";
}

}  // namespace

Exit topics(const TopicsArguments& arguments) {
  config::Config config = read_config(arguments.config, arguments.kafka);
  if (config.kafka.brokers.empty()) {
    throw Failure(Exit::configuration,
                  arguments.config.file + ": kafka.brokers is missing; set it, or name them with -b");
  }
  attach::preflight(config);
  const kafka::ClientSettings client{config.kafka.brokers, config.kafka.properties};
  const auto soon = [&] { return kafka::in(config.kafka.person_gives_up()); };
  // The input's partitions decide how many lanes there are, and so the partitions of all other topics.
  const std::optional<std::int32_t> of_input =
      arguments.partitions ? std::optional(static_cast<std::int32_t>(*arguments.partitions))
                           : kafka::TopicChecks(client).partitions(config.kafka.topics.input, soon());
  if (arguments.create && !arguments.input && !of_input) {
    fmt::print(
        "missing: {} (kafka.topic), the input{}; make it with: nustream topics CONFIG --create --input "
        "--partitions N\n",
        config.kafka.topics.input, attach::nearest_topic(client, config.kafka.topics.input, soon()));
  }
  const std::vector<NewTopic> needed = needed_topics(config, arguments, of_input.value_or(1));
  for (const NewTopic& topic : needed) {
    const bool made = arguments.create && kafka::make_topic(client, topic, soon());
    fmt::print("{}", line_of(made ? "made:  " : "wanted:", topic));
    if (made) continue;
    const auto found = kafka::TopicChecks(client).describe(topic.name, soon());
    const bool is_input = topic.name == config.kafka.topics.input;
    fmt::print("  {}", found ? line_of_found(topic, *found)
                             : fmt::format("not there{}: nustream topics CONFIG --create{} makes it\n",
                                           is_input ? attach::nearest_topic(client, topic.name, soon()) : "",
                                           is_input ? " --input --partitions N" : ""));
  }
  return Exit::done;
}

}  // namespace nustream::cli
