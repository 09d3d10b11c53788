// The first records of a topic, of which settings are measured (measuring.h).
#pragma once

#include <cstdint>
#include <vector>

#include "config/config.h"
#include "decode/message.h"
#include "decode/message_decoder.h"
#include "journal/state_record.h"
#include "kafka/message.h"
#include "kafka/seen_records.h"
#include "measure/fit.h"
#include "nustream/base/units.h"
#include "nustream/record/batch.h"
#include "secrets/keyring.h"
#include "users/identifiers.h"
#include "users/user_key.h"

namespace nustream::attach {

/// The records of lane 0 from its start on, with their columns as they are, before any range is known. Where the unit
/// is the user, records belong to those users who count in lane 0; a record of a user of another lane is as unusable
/// here as in the lane's steps, so that nobody pays in two lanes. To be used from one thread. References outlive it.
class FirstRecords {
 public:
  /// `lanes`: among how many lanes users are divided. `user_key` is the stream's, and null where the unit is the
  /// record.
  FirstRecords(const config::Config& asked, const secrets::Keyring& keys, std::uint32_t lanes,
               const users::UserKey* user_key, Position start);
  FirstRecords(const FirstRecords&) = delete;
  FirstRecords& operator=(const FirstRecords&) = delete;

  /// Takes the next record.
  void take(const kafka::Message& message);
  /// All records before `end` were taken.
  void reached(Position end) { end_ = end; }

  [[nodiscard]] Position start() const noexcept { return start_; }
  [[nodiscard]] Position end() const noexcept { return end_; }
  [[nodiscard]] const measure::RawTable& table() const noexcept { return table_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return table_.y.size(); }
  /// How many of ranges.records are still to come.
  [[nodiscard]] std::uint64_t lacking() const noexcept { return wanted_ - count(); }
  /// The marks that a state behind these records keeps.
  [[nodiscard]] std::vector<journal::SeenRecord> marks() const { return kafka::SeenRecords(seen_).below(end_); }

 private:
  const secrets::Keyring& keys_;
  std::uint64_t wanted_;
  Position start_;
  Position end_;
  users::Identifiers identifiers_;
  decode::MessageDecoder decoder_;
  measure::RawTable table_;
  kafka::SeenRecords seen_{{}};
  decode::MessageBatch batch_;
  record::RowBatch rows_;
};

}  // namespace nustream::attach
