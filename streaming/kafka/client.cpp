// The part of librdkafka that all clients share: making one, polling its one queue, and turning its events into this
// room's types.
#include "kafka/client.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "error.h"
#include "kafka/interruption.h"
#include "kafka/oauth_token.h"

namespace nustream::kafka {
namespace {

/// Whose time a record has: the producer's, the broker's, or nobody's.
decode::TimeKind time_kind(rd_kafka_timestamp_type_t type) {
  switch (type) {
    case RD_KAFKA_TIMESTAMP_CREATE_TIME:
      return decode::TimeKind::producer;
    case RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME:
      return decode::TimeKind::broker;
    default:
      return decode::TimeKind::none;
  }
}

/// The bytes at `data`; nothing for a null key or value, which is not the same as an empty one.
std::optional<std::string_view> bytes(const void* data, std::size_t size) {
  if (data == nullptr) return std::nullopt;
  return std::string_view(static_cast<const char*>(data), size);
}

/// A record, or the error of the partition that came in its place. A Message keeps the event, in whose memory its
/// bytes lie.
ReaderEvent read_message(EventHandle event) {
  const rd_kafka_message_t* raw = rd_kafka_event_message_next(event.get());
  if (raw == nullptr) return std::monostate{};
  if (raw->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return PartitionError{PartitionIndex{raw->partition}, error_of(raw->err, rd_kafka_message_errstr(raw))};
  }
  rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
  const std::int64_t milliseconds = rd_kafka_message_timestamp(raw, &type);
  return Message{.memory = std::move(event),
                 .raw = raw,
                 .partition = PartitionIndex{raw->partition},
                 .record = {.offset = static_cast<std::uint64_t>(raw->offset),
                            .milliseconds = milliseconds,
                            .time_kind = time_kind(type),
                            .key = bytes(raw->key, raw->key_len),
                            .value = bytes(raw->payload, raw->len)}};
}

/// The error of an event, with secrets blotted out. librdkafka marks errors that end a client for ever as fatal.
Error error_in(const Client& client, rd_kafka_event_t* event) {
  Error error = error_of(rd_kafka_event_error(event), rd_kafka_event_error_string(event));
  error.text = blot_secrets(std::move(error.text), client.properties);
  if (rd_kafka_event_error_is_fatal(event) != 0) error.remedy = Remedy::new_client;
  return error;
}

/// An error event is about one partition, where it names one, or about the whole client. The end of a partition comes
/// as an error too.
ReaderEvent read_error(const Client& client, rd_kafka_event_t* event) {
  const auto destroy = [](rd_kafka_topic_partition_t* partition) { rd_kafka_topic_partition_destroy(partition); };
  const std::unique_ptr<rd_kafka_topic_partition_t, decltype(destroy)> partition(
      rd_kafka_event_topic_partition(event), destroy);
  // Errors of a connection or of the group name no partition.
  if (!partition || partition->partition < 0) return ClientError{error_in(client, event)};
  const PartitionIndex index{partition->partition};
  if (rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    return EndOfPartition{index, Offset{partition->offset}};
  }
  Error error = error_in(client, event);
  error.topic = partition->topic;
  return PartitionError{index, std::move(error)};
}

}  // namespace

ClientHandle new_client(const ClientSettings& settings, Role role, ConfigurationHandle configuration) {
  const auto type = role == Role::transactional_producer ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER;
  // The library writes its reason into this text, cut where it is longer.
  std::array<char, 512> text{};
  ClientHandle client(rd_kafka_new(type, configuration.get(), text.data(), text.size()));
  if (!client) {
    const std::string reason = blot_secrets(text.data(), with_secrets(settings.properties));
    if (rd_kafka_last_error() != RD_KAFKA_RESP_ERR__CRIT_SYS_RESOURCE) {
      throw Failure(Exit::configuration,
                    "kafka: the client library refuses its properties: " + reason + "; correct them");
    }
    // The library waits for its threads by the time of day, so that it gives up at once where the clock is set
    // meanwhile. These threads go on and use the properties, which are therefore never freed.
    static_cast<void>(configuration.release());
    throw Failure(Exit::unavailable, "kafka: the client library could not begin: " + reason +
                                         "; start again: the clock was set, or the machine has no room for threads");
  }
  static_cast<void>(configuration.release());  // rd_kafka_new() has taken it over
  serve_oauth_source(settings.properties, *client);
  return client;
}

Client new_consumer(const ClientSettings& settings, Role role, const Properties& own) {
  ConfigurationHandle configuration = client_configuration(settings, role, own);
  // Without this, librdkafka would only print errors, and answer rebalances by itself.
  rd_kafka_conf_set_events(configuration.get(), RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_REBALANCE);
  ClientHandle handle = new_client(settings, role, std::move(configuration));
  // All that concerns a client with a group comes through its consumer queue, and the answers to any other client
  // through its main queue.
  const bool has_group = own.contains("group.id");
  if (has_group) rd_kafka_poll_set_consumer(handle.get());
  QueueHandle queue(has_group ? rd_kafka_queue_get_consumer(handle.get()) : rd_kafka_queue_get_main(handle.get()));
  return {std::move(handle), std::move(queue), with_secrets(settings.properties), settings.cancelled};
}

void give_up_if_cancelled(const Client& client) {
  if (client.cancelled != nullptr && client.cancelled->load()) throw Cancelled();
}

EventHandle poll(const Client& client, int milliseconds) {
  return EventHandle(rd_kafka_queue_poll(client.queue.get(), milliseconds));
}

ReaderEvent read_event(const Client& client, EventHandle event) {
  switch (rd_kafka_event_type(event.get())) {
    case RD_KAFKA_EVENT_FETCH:
      return read_message(std::move(event));
    case RD_KAFKA_EVENT_ERROR:
      return read_error(client, event.get());
    default:
      return std::monostate{};
  }
}

std::optional<Error> waiting_complaint(const Client& client) {
  std::optional<Error> complaint;
  while (EventHandle event = poll(client, 0)) {
    const ReaderEvent read = read_event(client, std::move(event));
    if (const auto* error = std::get_if<ClientError>(&read)) complaint = telling_more(complaint, error->error);
  }
  return complaint;
}

Error telling_more(std::optional<Error> earlier, Error later) {
  if (earlier && earlier->cause == Cause::authentication && later.cause == Cause::unavailable) return *earlier;
  return later;
}

PartitionListHandle new_partition_list() {
  return PartitionListHandle(rd_kafka_topic_partition_list_new(1));
}

void add_partition(rd_kafka_topic_partition_list_s& list, const std::string& topic, PartitionIndex partition,
                   std::int64_t offset) {
  rd_kafka_topic_partition_list_add(&list, topic.c_str(), partition.value())->offset = offset;
}

int milliseconds_until(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000));
}

}  // namespace nustream::kafka
