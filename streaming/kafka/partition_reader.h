// Reads partitions from an offset to an end that is known beforehand: for states, releases, or a bounded input.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kafka/client_error.h"
#include "kafka/client_settings.h"
#include "kafka/message.h"
#include "kafka/partition.h"

namespace nustream::kafka {

enum class Isolation {
  read_committed,    ///< committed records alone; the end is the last stable offset
  read_uncommitted,  ///< all records, aborted ones too; the end is the high watermark
};

/// Where a partition begins and ends at present.
struct Watermarks {
  Offset low;   ///< the offset of the first record that is kept
  Offset high;  ///< one past the last record: the high watermark, or for read_committed the last stable offset
};

/// Reads without joining a group, and looks up offsets. To be used from one thread at a time. Calls wait, at most
/// until their deadline. They throw KafkaFailure, with Remedy::call_again where another attempt may succeed, and
/// Cancelled.
class PartitionReader {
 public:
  /// `group` is the group whose offsets committed() tells. It is not joined.
  PartitionReader(const ClientSettings& settings, Isolation isolation, const std::string& group);
  ~PartitionReader();
  PartitionReader(const PartitionReader&) = delete;
  PartitionReader& operator=(const PartitionReader&) = delete;

  [[nodiscard]] Watermarks watermarks(const TopicPartition& partition, Deadline deadline);
  /// The offset of the partition's first record at `milliseconds` since 1970 or later; nothing where all are earlier.
  /// Contract: `milliseconds` is not negative.
  [[nodiscard]] std::optional<Offset> offset_at(const TopicPartition& partition, std::int64_t milliseconds,
                                                Deadline deadline);
  /// The group's committed offset. The call waits for transactions that are about to change it. Nothing where no
  /// offset was ever committed, or where it has expired. Contract: Isolation::read_committed.
  [[nodiscard]] std::optional<Offset> committed(const TopicPartition& partition, Deadline deadline);

  /// Turns to a partition. The next record is the first one at or behind `from`. The reading is over when nothing is
  /// left below `end`, whether its last offsets are records, control records, or were compacted away.
  void start(const TopicPartition& partition, Offset from, Offset end);
  /// Gives records to `take` in the order of their offsets, until the end (done) or until about `slice` is over
  /// (again). Fails where the log does not hold `from`, and where the client cannot reach the broker.
  [[nodiscard]] Progress read(const std::function<void(const Message&)>& take, std::chrono::milliseconds slice);
  /// How far the reading has come: every record below this offset was given.
  [[nodiscard]] Offset position() const noexcept;

  /// Calls start(), and then read() until the end or `deadline`.
  void read_all(const TopicPartition& partition, Offset from, Offset end, Deadline deadline,
                const std::function<void(const Message&)>& take);
  /// As read_all(), but without a deadline for the whole: it fails only where nothing has come for `patience`.
  void read_patiently(const TopicPartition& partition, Offset from, Offset end, std::chrono::milliseconds patience,
                      const std::function<void(const Message&)>& take);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace nustream::kafka
