// A record as it came from a broker, in the client library's memory.
#pragma once

#include "decode/message.h"
#include "kafka/handles.h"
#include "kafka/partition.h"

struct rd_kafka_message_s;

namespace nustream::kafka {

/// One record. The bytes that `record` shows live as long as this object, wherever it is moved to. Headers are read
/// only when asked for: add_to().
struct Message {
  EventHandle memory;
  const rd_kafka_message_s* raw = nullptr;  ///< in `memory`
  PartitionIndex partition{0};
  decode::Message record;  ///< without its headers
};

/// Adds the record to a batch of the decoder, without copying bytes: `message` has to outlive its use. `with_headers`
/// where a column, a dead letter or a recording needs them.
void add_to(decode::MessageBatch& batch, const Message& message, bool with_headers);

}  // namespace nustream::kafka
