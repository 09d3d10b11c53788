// A record as it came from a broker, in the client library's memory.
#pragma once

#include "decode/message.h"
#include "kafka/handles.h"
#include "kafka/partition.h"

struct rd_kafka_message_s;

namespace nustream::kafka {

/// One record. The bytes that `record` points to live as long as this object, also after it was moved. Headers are
/// read only by add_to(), when they are asked for.
struct Message {
  EventHandle memory;
  const rd_kafka_message_s* raw = nullptr;  ///< in `memory`
  PartitionIndex partition{0};
  decode::Message record;  ///< without its headers
};

/// Adds the record to a batch of the decoder. No bytes are copied, so that `message` has to outlive the use of the
/// batch. `with_headers` is for callers whose columns, dead letters or recordings need headers.
void add_to(decode::MessageBatch& batch, const Message& message, bool with_headers);

}  // namespace nustream::kafka
