// Reads partitions from an offset to an end that is known beforehand: state, releases, a bounded input.
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
  Offset low;   ///< of the first record that is kept
  Offset high;  ///< behind the last record: high watermark, or last stable offset for read_committed
};

/// Reads without a group, and looks up offsets. One thread at a time calls it; calls wait, at most until their
/// deadline, and throw KafkaFailure: Remedy::call_again where another attempt may do better; or Cancelled.
class PartitionReader {
 public:
  /// `group` is the group whose offsets committed() tells; it is not joined.
  PartitionReader(const ClientSettings& settings, Isolation isolation, const std::string& group);
  ~PartitionReader();
  PartitionReader(const PartitionReader&) = delete;
  PartitionReader& operator=(const PartitionReader&) = delete;

  [[nodiscard]] Watermarks watermarks(const TopicPartition& partition, Deadline deadline);
  /// The first record of `milliseconds` since 1970 or later, per partition of the topic; nothing where all are
  /// earlier.
  [[nodiscard]] std::optional<Offset> offset_at(const TopicPartition& partition, std::int64_t milliseconds,
                                                Deadline deadline);
  /// The group's committed offset, waiting out transactions that are about to change it; nothing where there is none
  /// (never committed, or expired). Isolation::read_committed only.
  [[nodiscard]] std::optional<Offset> committed(const TopicPartition& partition, Deadline deadline);

  /// Turns to a partition: what comes next is the first record at or behind `from`, and the reading is over when
  /// nothing is left below `end`, whether its last offsets are records, control records or compacted away.
  void start(const TopicPartition& partition, Offset from, Offset end);
  /// Gives the records to `take` in order of offsets until the end (done) or about `slice` is over (again). Fails
  /// where the log does not hold `from`, and with what ended the attempts of the client to reach the broker.
  [[nodiscard]] Progress read(const std::function<void(const Message&)>& take, std::chrono::milliseconds slice);
  /// Where the reading stands: every record below was given.
  [[nodiscard]] Offset position() const noexcept;

  /// start() and read() in one, until `deadline`.
  void read_all(const TopicPartition& partition, Offset from, Offset end, Deadline deadline,
                const std::function<void(const Message&)>& take);
  /// The same for as long as it takes, as long as it goes on: until nothing has come for `patience`.
  void read_patiently(const TopicPartition& partition, Offset from, Offset end, std::chrono::milliseconds patience,
                      const std::function<void(const Message&)>& take);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace nustream::kafka
