#include <fmt/format.h>

#include "attach/topic_requirements.h"
#include "cli/commands.h"
#include "kafka/topic_maker.h"

namespace nustream::cli {
namespace {

using kafka::NewTopic;

constexpr const char* one_day_ms = "86400000";

std::vector<NewTopic> needed_topics(const config::Kafka& kafka, const TopicsArguments& arguments) {
  const auto partitions = static_cast<std::int32_t>(arguments.partitions);
  const auto replicas = static_cast<std::int32_t>(arguments.replication);
  const std::map<std::string, std::string> durable =
      replicas >= 3 ? std::map<std::string, std::string>{{"min.insync.replicas", "2"}}
                    : std::map<std::string, std::string>{};
  const auto with = [&](std::map<std::string, std::string> settings) {
    settings.insert(durable.begin(), durable.end());
    return settings;
  };
  const std::map<std::string, std::string> compact{
      {"cleanup.policy", "compact"}, {"max.compaction.lag.ms", one_day_ms}, {"segment.ms", one_day_ms}};
  // By name, whatever the brokers' defaults are: without a limit of age or size.
  const std::map<std::string, std::string> kept{
      {"cleanup.policy", "delete"}, {"retention.ms", "-1"}, {"retention.bytes", "-1"}};
  std::vector<NewTopic> topics{{kafka.topics.releases, partitions, replicas, with(kept)},
                               {kafka.topics.state, partitions, replicas, with(compact)},
                               {kafka.topics.ledger, partitions, replicas, with(kept)}};
  if (arguments.input) topics.insert(topics.begin(), {kafka.topics.input, partitions, replicas, with({})});
  if (!kafka.topics.dead_letters.empty())
    topics.push_back({kafka.topics.dead_letters, partitions, replicas, with({})});
  if (!kafka.topics.model.empty()) topics.push_back({kafka.topics.model, 1, replicas, with(compact)});
  return topics;
}

}  // namespace

Exit topics(const TopicsArguments& arguments) {
  const config::Config config = config::read_config(arguments.config.file, arguments.config.overrides);
  if (config.kafka.brokers.empty()) {
    throw Failure(Exit::configuration, arguments.config.file + ": kafka.brokers is missing");
  }
  const kafka::ClientSettings client{config.kafka.brokers, config.kafka.properties};
  for (const NewTopic& topic : needed_topics(config.kafka, arguments)) {
    std::string settings;
    for (const auto& [name, value] : topic.settings) settings += fmt::format(" {}={}", name, value);
    const bool made = arguments.create && kafka::make_topic(client, topic, kafka::in(config.kafka.give_up));
    const char* what = made ? "made  " : arguments.create ? "exists" : "wanted";
    // What an existing topic has is looked at by attach.
    const char* left = arguments.create && !made ? " left as it is; wanted" : "";
    fmt::print("{}  {}:{} {} partitions, {} replicas{}\n", what, topic.name, left, topic.partitions,
               topic.replication_factor, settings);
  }
  return Exit::done;
}

}  // namespace nustream::cli
