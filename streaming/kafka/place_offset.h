// Turns a setting such as kafka.start into an offset of one partition.
#pragma once

#include <cstdint>

#include "config/kafka.h"
#include "kafka/partition_reader.h"

namespace nustream::kafka {

/// The offset of the first record at or behind `place` that is kept. A time that no record has reached means the end.
/// Throws KafkaFailure.
[[nodiscard]] std::uint64_t place_offset(const config::Place& place, PartitionReader& reader,
                                         const TopicPartition& partition, Deadline deadline);

}  // namespace nustream::kafka
