// Records of the simulated log.
#include "simulated_kafka.h"

namespace nustream::kafka {

decode::Message message_at(const Place& place, std::int64_t offset) {
  const SimulatedEntry& entry = broker().log(place)[static_cast<std::size_t>(offset)];
  decode::Message message;
  message.offset = static_cast<std::uint64_t>(offset);
  message.milliseconds = entry.milliseconds;
  message.time_kind = broker().gives_times ? decode::TimeKind::broker : decode::TimeKind::producer;
  if (entry.key) message.key = *entry.key;
  if (entry.value) message.value = *entry.value;
  message.headers = entry.views;
  return message;
}

bool is_readable(const Place& place, std::int64_t offset, Isolation isolation) {
  const SimulatedEntry& entry = broker().log(place)[static_cast<std::size_t>(offset)];
  if (entry.is_control) return false;
  return isolation == Isolation::read_uncommitted || !entry.transaction || entry.transaction->will_commit();
}

void add_to(decode::MessageBatch& batch, const Message& message, bool /*with_headers*/) {
  batch.add(message.record);
}

}  // namespace nustream::kafka
