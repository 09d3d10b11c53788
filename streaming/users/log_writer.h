// Makes what a batch appends to the store of users, in files or in a topic: numbered, sealed records of what the
// batch changed, and parts of the table between them (docs/formats/users.md).
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

/// A stretch of the store in which every part of the table is written anew once. When a segment is complete, records
/// older than the segment before it are not needed any more.
struct Segment {
  std::uint64_t number = 0;        ///< counted from 1; 0 for none
  std::uint64_t part_bytes = 0;    ///< the bytes of its parts
  std::uint64_t change_bytes = 0;  ///< the bytes of its other records
  unsigned parts = 0;              ///< how many of Standings::parts are written in it

  /// Counts one more of its records: a sealed one, or one that will have so many bytes and holds that part.
  void count(std::string_view sealed);
  void count(std::optional<std::uint8_t> part, std::size_t bytes);
};

/// How long records and segments become.
struct LogSizes {
  /// A segment goes on until its changes are three times as long as its parts of the table, and at least this many
  /// bytes.
  std::uint64_t segment_bytes_min = 1 << 20;
  std::size_t entries_max = record_entries_max;  ///< the most entries of a record
};

/// The sealed records of one batch, in their order, and the mark of the store with them.
struct Sealed {
  std::vector<std::string> records;
  StoreMark mark;
};

/// The records of one batch before they are sealed. Seals and digest take most of the time that a store costs, so
/// that seal() may be called on another thread than the one to which the table belongs.
class Appended {
 public:
  [[nodiscard]] bool begins_segment() const noexcept { return begins_segment_; }
  [[nodiscard]] std::size_t records() const noexcept { return records_.size(); }
  /// To be called once. The changes that append() was given must stay as they are until then.
  [[nodiscard]] Sealed seal();

 private:
  friend class LogWriter;
  Appended(UserKey key, std::string context, bool begins_segment)
      : key_(std::move(key)), context_(std::move(context)), begins_segment_(begins_segment) {}

  UserKey key_;
  std::string context_;
  bool begins_segment_;  // the first record is the first one of a segment
  std::vector<UnsealedRecord> records_;
  StoreMark mark_;                    // with the digest as it was before `changes_`
  const Changes* changes_ = nullptr;  // not in the digest yet
};

/// Makes the records of each batch. It knows no file and no topic: the caller appends the records and makes them
/// durable. There is one batch at a time, for which append() is called, then Appended::seal(), and then committed().
/// Not thread-safe.
class LogWriter {
 public:
  /// `table` is the table as of the committed steps, and outlives this.
  LogWriter(const UserKey& key, std::string context, Standings& table, const LogSizes& sizes)
      : key_(key), context_(std::move(context)), table_(table), sizes_(sizes) {}

  /// Goes on behind `mark`, in `segment`. To be called before anything is appended.
  void resume(const StoreMark& mark, const Segment& segment);

  /// The records of a batch: first about a third as many bytes of parts as there were of changes, so that the store
  /// grows by hardly more than the changes; then the changes.
  [[nodiscard]] Appended append(const Changes& changes);
  /// The record of an epoch that begins. The steps at which users contributed last are not carried over, and where W
  /// changed (`mass`, before and after), used masses are expressed in parts of the new one. The table changes at
  /// once, since nobody reads it before the epoch's first state is committed.
  [[nodiscard]] Appended append_epoch(std::optional<std::pair<Mass, Mass>> mass);
  /// The table takes the batch's changes. `mark` is what seal() gave.
  void committed(Changes& changes, const StoreMark& mark);

  /// The number of the record that was appended last.
  [[nodiscard]] std::uint64_t last_number() const noexcept { return mark_.number; }
  [[nodiscard]] const Segment& segment() const noexcept { return segment_; }

 private:
  [[nodiscard]] Appended open_batch();
  void write_parts(Appended& out);
  [[nodiscard]] UnsealedRecord next_record(RecordKind kind, std::uint8_t part);
  void write(UnsealedRecord record, Appended& out);
  void write_changes(const Changes& changes, Appended& out);

  UserKey key_;
  std::string context_;
  Standings& table_;
  LogSizes sizes_;
  StoreMark mark_{};  // of what was appended; its digest is that of what was committed
  Segment segment_{};
  std::uint64_t open_commit_ = 0;  // number of the batch that is not committed; 0 before resume()
};

}  // namespace nustream::users
