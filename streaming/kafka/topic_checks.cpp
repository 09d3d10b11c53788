// Describes topics by librdkafka's admin calls. Each answer is waited for on a queue of its own, in attempts of
// growing length (look_up.h).
#include "kafka/topic_checks.h"

#include <librdkafka/rdkafka.h>

#include <array>
#include <charconv>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "kafka/client.h"
#include "kafka/look_up.h"

namespace nustream::kafka {
namespace {

using Configuration = std::map<std::string, std::string, std::less<>>;

struct DestroyResource {
  void operator()(rd_kafka_ConfigResource_t* resource) const noexcept { rd_kafka_ConfigResource_destroy(resource); }
};

struct DestroyOptions {
  void operator()(rd_kafka_AdminOptions_t* options) const noexcept { rd_kafka_AdminOptions_destroy(options); }
};

/// The answer as names and values. A value that the broker does not show, as of a secret, is empty.
Configuration entries_of(const rd_kafka_ConfigResource_t& resource) {
  std::size_t count = 0;
  const rd_kafka_ConfigEntry_t** entries = rd_kafka_ConfigResource_configs(&resource, &count);
  Configuration configuration;
  for (std::size_t i = 0; i < count; ++i) {
    const char* value = rd_kafka_ConfigEntry_value(entries[i]);
    configuration.emplace(rd_kafka_ConfigEntry_name(entries[i]), value != nullptr ? value : "");
  }
  return configuration;
}

EventHandle wait_for_answer(rd_kafka_queue_t* answers, int milliseconds) {
  return EventHandle(rd_kafka_queue_poll(answers, milliseconds));
}

/// Reads the configuration out of the one resource that was asked about.
std::optional<Error> read_answer(rd_kafka_event_t* event, Configuration& configuration) {
  if (const auto code = rd_kafka_event_error(event); code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return error_of(code, rd_kafka_event_error_string(event));
  }
  std::size_t count = 0;
  const rd_kafka_ConfigResource_t** resources =
      rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(event), &count);
  // One topic was asked about, so that one answer has to come.
  if (count != 1) return error_of(RD_KAFKA_RESP_ERR__FAIL);
  if (const auto code = rd_kafka_ConfigResource_error(resources[0]); code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    const char* text = rd_kafka_ConfigResource_error_string(resources[0]);
    return error_of(code, text != nullptr ? text : "");
  }
  configuration = entries_of(*resources[0]);
  return std::nullopt;
}

// Asks for a topic's configuration. The answer comes to a queue of its own, so that the client's queue stays free for
// complaints.
std::optional<Error> describe_configuration(const Client& client, const std::string& topic, int milliseconds,
                                            Configuration& configuration) {
  const std::unique_ptr<rd_kafka_ConfigResource_t, DestroyResource> resource(
      rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str()));
  const std::unique_ptr<rd_kafka_AdminOptions_t, DestroyOptions> options(
      rd_kafka_AdminOptions_new(client.handle.get(), RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS));
  std::array<char, 256> text{};
  rd_kafka_AdminOptions_set_request_timeout(options.get(), milliseconds, text.data(), text.size());
  const QueueHandle answers(rd_kafka_queue_new(client.handle.get()));
  rd_kafka_ConfigResource_t* resources[] = {resource.get()};
  rd_kafka_DescribeConfigs(client.handle.get(), resources, 1, options.get(), answers.get());
  const EventHandle event = wait_for_answer(answers.get(), milliseconds);
  if (!event) return error_of(RD_KAFKA_RESP_ERR__TIMED_OUT);  // ask_until() asks again, until its deadline
  return read_answer(event.get(), configuration);
}

std::string text_of(const Configuration& configuration, std::string_view name) {
  const auto found = configuration.find(name);
  return found == configuration.end() ? std::string() : found->second;
}

// A number of the configuration; -1, for no limit, where the broker does not tell it.
std::int64_t number_of(const Configuration& configuration, std::string_view name) {
  const std::string text = text_of(configuration, name);
  std::int64_t value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

TopicChecks::TopicChecks(const ClientSettings& settings)
    : client_(std::make_unique<Client>(new_consumer(settings, Role::committed_reader, {}))) {}

TopicChecks::~TopicChecks() = default;

std::optional<TopicDescription> TopicChecks::describe(const std::string& topic, Deadline deadline) {
  const std::optional<TopicShape> shape = topic_shape(*client_, topic, deadline);
  // A topic that is missing has no configuration to ask for.
  if (!shape) return std::nullopt;
  // The shape comes from the brokers' metadata, and everything else from the topic's configuration.
  Configuration configuration;
  ask_until(*client_, "read the configuration of topic '" + topic + "'", deadline,
            [&](int milliseconds) { return describe_configuration(*client_, topic, milliseconds, configuration); });
  return TopicDescription{
      .partitions = shape->partitions,
      .replication_factor = shape->replication_factor,
      .cleanup_policy = text_of(configuration, "cleanup.policy"),
      .min_insync_replicas = static_cast<std::int32_t>(number_of(configuration, "min.insync.replicas")),
      .max_message_bytes = number_of(configuration, "max.message.bytes"),
      .message_timestamp_type = text_of(configuration, "message.timestamp.type"),
      .retention_ms = number_of(configuration, "retention.ms"),
      .retention_bytes = number_of(configuration, "retention.bytes"),
      .max_compaction_lag_ms = number_of(configuration, "max.compaction.lag.ms"),
      .segment_ms = number_of(configuration, "segment.ms")};
}

std::optional<std::int32_t> TopicChecks::partitions(const std::string& topic, Deadline deadline) {
  const std::optional<TopicShape> shape = topic_shape(*client_, topic, deadline);
  if (!shape) return std::nullopt;
  return shape->partitions;
}

std::vector<std::string> topic_names(const ClientSettings& settings, Deadline deadline) {
  const Client client(new_consumer(settings, Role::committed_reader, {}));
  std::vector<std::string> names;
  ask_until(client, "list the topics", deadline, [&](int milliseconds) -> std::optional<Error> {
    const rd_kafka_metadata_t* metadata = nullptr;
    // The 1 asks for all topics, and not only for those that this client has used.
    const auto code = rd_kafka_metadata(client.handle.get(), 1, nullptr, &metadata, milliseconds);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(code);
    for (int i = 0; i < metadata->topic_cnt; ++i) names.emplace_back(metadata->topics[i].topic);
    rd_kafka_metadata_destroy(metadata);
    return std::nullopt;
  });
  return names;
}

std::string TopicChecks::cluster(Deadline deadline) {
  // Brokers tell the id together with their names, so that the library mostly knows it already.
  char* const id = rd_kafka_clusterid(client_->handle.get(), milliseconds_until(deadline));
  std::string copy = id != nullptr ? id : "";
  if (id != nullptr) rd_kafka_mem_free(client_->handle.get(), id);
  return copy;
}

}  // namespace nustream::kafka
