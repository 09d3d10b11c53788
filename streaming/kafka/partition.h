// The types for places in a log: a partition of a topic, an offset in a partition; and for how long a call may wait.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "config/kafka.h"
#include "nustream/base/strong.h"
#include "nustream/base/units.h"

namespace nustream::kafka {

namespace tag {
struct PartitionIndex {
  static constexpr const char* name = "partition";
  static constexpr const char* allowed = "an integer >= 0";
  static constexpr bool valid(std::int32_t value) noexcept { return value >= 0; }
};
struct Offset {
  static constexpr const char* name = "offset";
  static constexpr const char* allowed = "an integer >= 0";
  static constexpr bool valid(std::int64_t value) noexcept { return value >= 0; }
};
}  // namespace tag

/// The number of a partition within its topic, counted from 0.
using PartitionIndex = Strong<tag::PartitionIndex, std::int32_t>;
/// The offset of a record within its partition, or of the record that will come next.
using Offset = Strong<tag::Offset, std::int64_t>;

struct TopicPartition {
  std::string topic;
  PartitionIndex partition;
  friend bool operator==(const TopicPartition&, const TopicPartition&) = default;
};

/// A partition of the topic that a consumer or a transaction is about, and the offset of its next record.
struct PartitionOffset {
  PartitionIndex partition;
  Offset offset;
  friend bool operator==(const PartitionOffset&, const PartitionOffset&) = default;
};

/// The time until which a call may go on. Every call that waits for a broker takes one.
using Deadline = std::chrono::steady_clock::time_point;

[[nodiscard]] inline Deadline in(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

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
