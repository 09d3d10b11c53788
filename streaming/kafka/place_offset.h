// The offset that a setting such as kafka.start means in one partition.
#pragma once

#include <cstdint>

#include "config/kafka.h"
#include "kafka/partition_reader.h"

namespace nustream::kafka {

/// Of the first record at or behind `place` that is kept; a time that no record reaches means the end. KafkaFailure.
[[nodiscard]] std::uint64_t place_offset(const config::Place& place, PartitionReader& reader,
                                         const TopicPartition& partition, Deadline deadline);

}  // namespace nustream::kafka
