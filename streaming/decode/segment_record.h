// One record of a segment's block as bytes. The page is docs/formats/segment.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "decode/message.h"

namespace nustream::decode {

/// What a record is written relative to: the record before it in its block.
struct RecordBefore {
  std::uint64_t next = 0;          ///< its offset + 1; for the first record of a block that record's own offset
  std::uint64_t milliseconds = 0;  ///< its time as 64 bits; 0 for the first record
};

/// Appends `message`, whose offset is at least before.next, and sets `before` to it.
void append_record(const Message& message, RecordBefore& before, std::string& content);

/// An upper bound on the bytes that append_record() would append, computed without counting them one by one.
[[nodiscard]] std::size_t record_bytes_bound(const Message& message) noexcept;

/// Takes records from a block's content. It trusts no length: whatever the bytes are, nothing beyond them is read.
class RecordParser {
 public:
  RecordParser() = default;
  /// Begins with a block whose first record has offset `first`.
  RecordParser(std::string_view content, std::uint64_t first) : rest_(content), before_{first, 0} {}

  [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }
  /// Adds the next record, as views into the content, to `batch`. Returns false where no sound record follows.
  [[nodiscard]] bool next(MessageBatch& batch);
  /// The offset of the last record + 1.
  [[nodiscard]] std::uint64_t next_offset() const noexcept { return before_.next; }

 private:
  std::string_view rest_;
  RecordBefore before_;
};

}  // namespace nustream::decode
