// Where a lane reads and writes: lane n has partition n of each topic, under names that every instance agrees on.
#pragma once

#include <string>

#include "config/kafka.h"
#include "kafka/partition.h"
#include "nustream/base/units.h"

namespace nustream::kafka {

/// The places of one lane (docs/formats/kafka.md).
struct LanePlace {
  std::string stream;
  LaneId lane;
  std::string group;
  config::Topics topics;

  [[nodiscard]] PartitionIndex partition() const { return PartitionIndex{static_cast<std::int32_t>(lane.value())}; }
  [[nodiscard]] TopicPartition in(const std::string& topic) const { return {topic, partition()}; }
  /// The lane's name, which is also its transactional id: each lane has one producer, so that a takeover fences the
  /// one before at once.
  [[nodiscard]] std::string name() const { return stream + "/" + std::to_string(lane.value()); }
  [[nodiscard]] std::string state_key() const { return name() + "/state"; }
};

}  // namespace nustream::kafka
