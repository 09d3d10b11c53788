// Records are passed on without a copy. Headers are only parsed for callers that read them, since most records are
// used without.
#include "kafka/message.h"

#include <librdkafka/rdkafka.h>

namespace nustream::kafka {
namespace {

// The record's headers, which librdkafka parses on demand and keeps; null where there are none.
const rd_kafka_headers_t* headers_of(const rd_kafka_message_t& message) {
  rd_kafka_headers_t* headers = nullptr;
  return rd_kafka_message_headers(&message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR ? headers : nullptr;
}

void add_headers(decode::MessageBatch& batch, const rd_kafka_headers_t& headers) {
  const char* name = nullptr;
  const void* bytes = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0; rd_kafka_header_get_all(&headers, i, &name, &bytes, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
       ++i) {
    decode::MessageHeader header{name, {}};
    if (bytes != nullptr) header.value = std::string_view(static_cast<const char*>(bytes), size);
    batch.add_header(header);
  }
}

}  // namespace

void add_to(decode::MessageBatch& batch, const Message& message, bool with_headers) {
  batch.add(message.record);
  if (!with_headers) return;
  if (const rd_kafka_headers_t* headers = headers_of(*message.raw)) add_headers(batch, *headers);
}

}  // namespace nustream::kafka
