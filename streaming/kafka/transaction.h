// One transaction of a lane, from its records to its end, in slices that never block for long.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "journal/journal.h"
#include "kafka/interruption.h"
#include "kafka/lane_place.h"
#include "kafka/producer.h"

namespace nustream::kafka {

/// What is written together. The records' bytes stay where they are until the end.
struct TransactionContent {
  std::vector<OutgoingRecord> records;
  /// So many of them, the first ones, of one topic, are taken by their broker before any other is written: what goes
  /// wrong with them leaves no trace in the other topics, and is known to be theirs.
  std::size_t ahead = 0;
  std::optional<PartitionOffset> offset;  ///< of the input's next record; nothing: no offsets
};

/// begin → offsets → records that go ahead → the others → commit; or, after an abortable error, → abort. An error of
/// a record that goes ahead names its topic. One thread at a time.
class Transaction {
 public:
  /// `member` may be null where there is no offset. All references outlive it.
  Transaction(Producer& producer, const LanePlace& place, const TransactionContent& content,
              const GroupMetadata* member, std::chrono::milliseconds time);

  /// Goes on for about a slice. Done, again, or failed with what ended it: Remedy::abort_transaction says that it
  /// was aborted, any other that its end is not known to this producer.
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
