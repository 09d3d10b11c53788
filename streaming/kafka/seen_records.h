// Keyed marks of the last records that a lane has read. They tell later whether the log still holds those records.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "decode/message.h"
#include "journal/state_record.h"
#include "secrets/keyring.h"

namespace nustream::kafka {

/// The mark of a record: keyed BLAKE2b over offset, time, key and value, so that it tells nothing without the key.
[[nodiscard]] journal::Hash mark_of(const decode::Message& message, const secrets::Keyring& keys);

/// Marks of some of the last records that were read, for the state.
class SeenRecords {
 public:
  /// How many marks a state keeps.
  static constexpr std::size_t kept = journal::marks_kept;
  /// Of the records that come at once, every `between_marks`-th is marked, and so are the last ones.
  static constexpr std::size_t between_marks = 32;

  explicit SeenRecords(std::vector<journal::SeenRecord> seen) : seen_(std::move(seen)) {}
  /// Marks some of `messages`, in order of offsets: the last ones, and others so that none is far from a mark.
  void add(std::span<const decode::Message> messages, const secrets::Keyring& keys);
  /// The last marks below `position`, at most `kept` of them. Marks before those are forgotten.
  [[nodiscard]] std::vector<journal::SeenRecord> below(Position position);

 private:
  std::vector<journal::SeenRecord> seen_;
};

}  // namespace nustream::kafka
