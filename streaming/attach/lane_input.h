// Records of one partition on their way to a lane: decoded, bounded, each once.
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

/// Rows of a lane that wait for their step, with the dead letters of those that cannot be used. One thread.
class LaneInput {
 public:
  /// Takes records from `position` on, up to `stop`. Dead letters are cut until their topic, which takes records of
  /// `letter_bytes_max` bytes, takes them. Where the unit is the user, `user_key` tells users apart, and those of
  /// other lanes than `lane` have no usable record here; else it is null.
  LaneInput(const config::Config& config, const secrets::Keyring& keys, LaneId lane, const users::UserKey* user_key,
            Position position, std::optional<Position> stop, std::size_t letter_bytes_max);

  /// Decodes the records of a poll, in order of their offsets. Records below the position, or at or beyond the stop,
  /// are not taken.
  void take(std::span<const kafka::Message> messages, kafka::SeenRecords& seen);
  /// Nothing is left below `offset`.
  void end_at(std::uint64_t offset);

  [[nodiscard]] record::RowBatch& rows() noexcept { return rows_; }
  /// True once every record below the stop was taken.
  [[nodiscard]] bool is_over() const noexcept { return over_; }
  /// True where a whole batch waits, or as many rows as may.
  [[nodiscard]] bool is_full() const noexcept { return rows_.count() >= rows_max_; }
  [[nodiscard]] bool is_half_empty() const noexcept { return rows_.count() <= rows_max_ / 2; }
  /// Letters of so many bytes are committed: there is room for others.
  void letters_gone(std::size_t bytes) noexcept { letter_bytes_ -= bytes; }
  /// The letters of the next rejects that took their step, in their order, without those of which nothing fits their
  /// topic. Their bytes count until letters_gone().
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
  std::deque<std::optional<journal::DeadLetter>> letters_;  // one a reject; empty: not even its reason fits
  std::size_t letter_bytes_ = 0;
};

}  // namespace nustream::attach
