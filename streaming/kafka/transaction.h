// One transaction of a lane, from its beginning to its end, in slices that never block for long.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "journal/journal.h"
#include "kafka/interruption.h"
#include "kafka/partition.h"
#include "kafka/producer.h"

namespace nustream::kafka {

/// What is written together. The bytes that the records point to have to stay until the transaction has ended.
struct TransactionContent {
  std::vector<OutgoingRecord> records;
  /// This many of the first records, all of one topic, have to be taken by their broker before any other record is
  /// written. So an error of theirs leaves no trace in other topics, and is known to be theirs.
  std::size_t ahead = 0;
  std::optional<PartitionOffset> offset;  ///< of the input's next record; without it no offset is committed
};

/// It goes through these phases: begin → offsets → records that go ahead → the other records → commit; after an error
/// that can be aborted, → abort. An error of a record that goes ahead names its topic. To be used from one thread at
/// a time.
class Transaction {
 public:
  /// `member` may be null where there is no offset. `time` is how long the transaction may take, and again how long
  /// an abort may. All references outlive it.
  Transaction(Producer& producer, const LanePlace& place, const TransactionContent& content,
              const GroupMetadata* member, std::chrono::milliseconds time);

  /// Goes on for about a slice. Returns done, again, or failed with what ended it. Remedy::abort_transaction says
  /// that it was aborted; any other remedy says that this producer does not know how it ended.
  [[nodiscard]] Progress advance();

 private:
  enum class Phase { begin, offsets, ahead, arrive, produce, commit, abort };

  [[nodiscard]] Progress begin();
  [[nodiscard]] Progress send_offsets();
  [[nodiscard]] Progress first_records();
  [[nodiscard]] Progress produce();
  [[nodiscard]] Progress arrive();
  [[nodiscard]] Progress finish(Progress progress);
  [[nodiscard]] Progress after_error(const Error& error);

  Producer& producer_;
  const LanePlace& place_;
  const TransactionContent& content_;
  const GroupMetadata* member_;
  std::chrono::milliseconds time_;
  Deadline deadline_;
  Deadline arrive_by_;
  Phase phase_ = Phase::begin;
  std::size_t produced_ = 0;
  std::optional<Error> aborting_;
};

}  // namespace nustream::kafka
