// Places in a log: a partition of a topic, an offset in a partition, and until when a call may wait.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "nustream/base/strong.h"

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

/// Number of a partition within its topic, from 0.
using PartitionIndex = Strong<tag::PartitionIndex, std::int32_t>;
/// Of a record within its partition, or of the record that will come next.
using Offset = Strong<tag::Offset, std::int64_t>;

struct TopicPartition {
  std::string topic;
  PartitionIndex partition;
  friend bool operator==(const TopicPartition&, const TopicPartition&) = default;
};

/// A partition of the one topic that a consumer or a transaction is about, and where its next record is.
struct PartitionOffset {
  PartitionIndex partition;
  Offset offset;
  friend bool operator==(const PartitionOffset&, const PartitionOffset&) = default;
};

/// Until when a call may go on. Every call that waits for a broker takes one.
using Deadline = std::chrono::steady_clock::time_point;

[[nodiscard]] inline Deadline in(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

}  // namespace nustream::kafka
