// Owning pointers to librdkafka's objects. They are declared here by name, so that no header of this project includes
// librdkafka's.
#pragma once

#include <memory>

struct rd_kafka_s;
struct rd_kafka_conf_s;
struct rd_kafka_consumer_group_metadata_s;
struct rd_kafka_error_s;
struct rd_kafka_headers_s;
struct rd_kafka_op_s;
struct rd_kafka_queue_s;
struct rd_kafka_topic_partition_list_s;
struct rd_kafka_topic_s;

namespace nustream::kafka {

/// Destroys an object of librdkafka by the call for its type.
struct Destroy {
  /// Joins the client's threads, without leaving a group (GroupConsumer::begin_close() does that). Everything else
  /// that was taken from the client has to be destroyed before.
  void operator()(rd_kafka_s* client) const noexcept;
  void operator()(rd_kafka_conf_s* configuration) const noexcept;
  void operator()(rd_kafka_consumer_group_metadata_s* metadata) const noexcept;
  void operator()(rd_kafka_error_s* error) const noexcept;
  void operator()(rd_kafka_headers_s* headers) const noexcept;
  void operator()(rd_kafka_op_s* event) const noexcept;
  void operator()(rd_kafka_queue_s* queue) const noexcept;
  void operator()(rd_kafka_topic_partition_list_s* list) const noexcept;
  void operator()(rd_kafka_topic_s* topic) const noexcept;
};

template <class Object>
using Handle = std::unique_ptr<Object, Destroy>;

using ClientHandle = Handle<rd_kafka_s>;
using ConfigurationHandle = Handle<rd_kafka_conf_s>;
using ErrorHandle = Handle<rd_kafka_error_s>;
using EventHandle = Handle<rd_kafka_op_s>;
using HeadersHandle = Handle<rd_kafka_headers_s>;
using PartitionListHandle = Handle<rd_kafka_topic_partition_list_s>;
using QueueHandle = Handle<rd_kafka_queue_s>;
using TopicHandle = Handle<rd_kafka_topic_s>;

/// Which member of a group this is, in which generation. Brokers check a transaction that commits offsets against it.
/// It may be passed from thread to thread, and read by several at once.
using GroupMetadata = Handle<rd_kafka_consumer_group_metadata_s>;

}  // namespace nustream::kafka
