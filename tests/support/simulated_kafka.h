// What the simulated clients of Kafka share. They replace the places where the kafka room speaks to librdkafka: a
// program that links them links none of the real ones, and everything above them is as it is shipped.
#pragma once

#include <cstdint>
#include <string>

#include "kafka/client.h"
#include "kafka/group_consumer.h"
#include "kafka/message.h"
#include "kafka/partition_reader.h"
#include "simulated_broker.h"

namespace nustream::kafka {

using tests::Place;
using tests::SimulatedBroker;
using tests::SimulatedEntry;

inline SimulatedBroker& broker() {
  return *SimulatedBroker::current();
}

inline Error error(Cause cause, Remedy remedy, const char* text, const std::string& topic = {}) {
  return {0, cause, remedy, text, topic};
}

inline Place place_of(const TopicPartition& partition) {
  return {partition.topic, partition.partition.value()};
}

/// A record of the log, as a consumer gets it.
[[nodiscard]] decode::Message message_at(const Place& place, std::int64_t offset);
[[nodiscard]] bool is_readable(const Place& place, std::int64_t offset, Isolation isolation);
/// What a transaction shows of the member for which it commits.
[[nodiscard]] GroupMetadata metadata_of(const std::string& member, std::int64_t generation);

}  // namespace nustream::kafka
