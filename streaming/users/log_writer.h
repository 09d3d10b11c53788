// What a batch appends to the store of users, wherever that lies: numbered, sealed records of what it changed, and
// parts of the table between them (docs/formats/users.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nustream/users/changes.h"
#include "users/sealed_record.h"
#include "users/store_mark.h"

namespace nustream::users {

/// A stretch of the store that is written anew as a whole: with all parts of the table in it, what came before the
/// stretch before it is not needed any more.
struct Segment {
  std::uint64_t number = 0;        ///< from 1; 0 for none
  std::uint64_t part_bytes = 0;    ///< of its parts
  std::uint64_t change_bytes = 0;  ///< of its other records
  unsigned parts = 0;              ///< written of Standings::parts

  /// One more of its records.
  void count(std::string_view sealed);
};

/// How long records and segments become.
struct LogSizes {
  /// A segment goes on until its changes are as long as the table, and at least so long.
  std::uint64_t segment_bytes_min = 1 << 20;
  std::size_t entries_max = record_entries_max;  ///< of a record
};

/// The records of one batch, in their order.
struct Appended {
  bool begins_segment = false;  ///< the first of them is the first one of a segment
  std::vector<std::string> records;
};

/// Knows no file and no topic: whoever appends the records makes them durable. One batch at a time: append(), then
/// committed(). Not thread-safe.
class LogWriter {
 public:
  /// Of the table of the committed steps, which outlives it.
  LogWriter(const UserKey& key, std::string context, Standings& table, const LogSizes& sizes)
      : key_(key), context_(std::move(context)), table_(table), sizes_(sizes) {}

  /// Goes on behind the mark, in that segment. Before anything is appended.
  void resume(const StoreMark& mark, const Segment& segment);

  /// As many bytes of parts as of changes, so that the store grows no faster than twice the changes; then the
  /// changes.
  [[nodiscard]] Appended append(const Changes& changes);
  /// Of an epoch that begins: no last step carries over, nor does a mass whose W changed keep its number of parts.
  /// The table changes at once, since nobody reads it before the epoch's first state is committed.
  [[nodiscard]] Appended append_epoch(std::optional<std::pair<Mass, Mass>> mass);
  /// The table takes the batch's changes.
  void committed(Changes& changes);

  /// Of the store with what was appended last.
  [[nodiscard]] const StoreMark& mark() const noexcept { return mark_; }
  [[nodiscard]] const Segment& segment() const noexcept { return segment_; }

 private:
  [[nodiscard]] Appended open_batch();
  void write_parts(Appended& out);
  void write(RecordKind kind, std::uint8_t part, std::span<const Entry> entries, Appended& out);
  void write(UserRecord record, Appended& out);

  UserKey key_;
  std::string context_;
  Standings& table_;
  LogSizes sizes_;
  StoreMark mark_{};
  Segment segment_{};
  std::uint64_t open_commit_ = 0;  // number of the batch that is not committed; 0 before resume()
};

}  // namespace nustream::users
