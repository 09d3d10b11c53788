// One call of librdkafka for each type of object, so that no other source has to know which one destroys what.
#include "kafka/handles.h"

#include <librdkafka/rdkafka.h>

namespace nustream::kafka {

void Destroy::operator()(rd_kafka_s* client) const noexcept {
  // Without this flag librdkafka would leave the group here, and wait for the brokers' answers.
  rd_kafka_destroy_flags(client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

void Destroy::operator()(rd_kafka_conf_s* configuration) const noexcept {
  rd_kafka_conf_destroy(configuration);
}

void Destroy::operator()(rd_kafka_consumer_group_metadata_s* metadata) const noexcept {
  rd_kafka_consumer_group_metadata_destroy(metadata);
}

void Destroy::operator()(rd_kafka_error_s* error) const noexcept {
  rd_kafka_error_destroy(error);
}

void Destroy::operator()(rd_kafka_headers_s* headers) const noexcept {
  rd_kafka_headers_destroy(headers);
}

void Destroy::operator()(rd_kafka_op_s* event) const noexcept {
  rd_kafka_event_destroy(event);
}

void Destroy::operator()(rd_kafka_queue_s* queue) const noexcept {
  rd_kafka_queue_destroy(queue);
}

void Destroy::operator()(rd_kafka_topic_partition_list_s* list) const noexcept {
  rd_kafka_topic_partition_list_destroy(list);
}

void Destroy::operator()(rd_kafka_topic_s* topic) const noexcept {
  rd_kafka_topic_destroy(topic);
}

}  // namespace nustream::kafka
