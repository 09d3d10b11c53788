// Records of one partition on their way to a lane: each is decoded once, and a limited number of them may wait.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "config/config.h"
#include "decode/message_decoder.h"
#include "journal/journal.h"
#include "kafka/group_consumer.h"
#include "kafka/seen_records.h"
#include "nustream/record/batch.h"
#include "secrets/keyring.h"
#include "users/identifiers.h"

namespace nustream::attach {

/// Rows of a lane that wait for their step, with the dead letters of records that cannot be used. To be used from one
/// thread.
class LaneInput {
 public:
  /// Takes records from `position` on, up to `stop`, which is not taken. Dead letters are shortened until they fit a
  /// record of `letter_bytes_max` bytes. Where the unit is the user, `user_key` distinguishes users, and a record of
  /// a user who counts in another lane than `lane` is rejected; else `user_key` is null.
  LaneInput(const config::Config& config, const secrets::Keyring& keys, LaneId lane, const users::UserKey* user_key,
            Position position, std::optional<Position> stop, std::size_t letter_bytes_max);

  /// Decodes the records of a poll, in order of their offsets. It takes no record below the position, and none at or
  /// beyond the stop.
  void take(std::span<const kafka::Message> messages, kafka::SeenRecords& seen);
  /// The partition has no further record below `offset`. The input ends where the stop is at most `offset`: the last
  /// offsets before the stop may be control records, which never arrive.
  void end_at(std::uint64_t offset);

  [[nodiscard]] record::RowBatch& rows() noexcept { return rows_; }
  /// True once every record below the stop was taken.
  [[nodiscard]] bool is_over() const noexcept { return over_; }
  /// True where a whole batch waits, or as many rows wait as may.
  [[nodiscard]] bool is_full() const noexcept { return rows_.count() >= rows_max_; }
  [[nodiscard]] bool is_half_empty() const noexcept { return rows_.count() <= rows_max_ / 2; }
  /// Letters of `bytes` bytes are committed, which makes room for others.
  void letters_gone(std::size_t bytes) noexcept { letter_bytes_ -= bytes; }
  /// The letters of the next `rejects` rejected records, which have taken their step, in their order. A letter is
  /// left out if not even its reason fits the topic. The bytes of the letters count as waiting until letters_gone().
  [[nodiscard]] std::vector<journal::DeadLetter> next_letters(std::size_t rejects);

 private:
  void keep_letters(std::size_t rejects_before);

  const config::Config& config_;
  const secrets::Keyring& keys_;
  users::Identifiers identifiers_;
  decode::MessageDecoder decoder_;
  std::uint64_t next_;
  std::optional<std::uint64_t> stop_;
  bool over_;
  std::size_t rows_max_;
  std::size_t letter_bytes_max_;
  bool with_headers_;
  decode::MessageBatch batch_;
  record::RowBatch rows_;
  std::deque<std::optional<journal::DeadLetter>> letters_;  // one a reject; empty if not even its reason fits
  std::size_t letter_bytes_ = 0;
};

}  // namespace nustream::attach
