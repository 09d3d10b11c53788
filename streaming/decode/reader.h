// Reads the records of a recorded stream as rows: of files of lines, or of a recorded segment of a topic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/input.h"
#include "decode/message.h"
#include "decode/seen_lines.h"
#include "error.h"
#include "nustream/record/batch.h"
#include "nustream/record/schema.h"

namespace nustream::decode {

using config::Format;
using config::InputSettings;

/// Reads rows. Ordinals count data records over all files, from 0.
///
/// Throws Failure(io) for a file that cannot be read, after the rows before the fault were given; Failure(data) for
/// an empty file or one without a header, and for a damaged segment, after the rows of its whole blocks;
/// Failure(configuration) for a column that is missing.
class Reader {
 public:
  virtual ~Reader() = default;
  /// Appends up to `rows_max` rows to `batch`. Returns false once nothing is left; the batch may still have got rows.
  ///
  /// It may append fewer rows, or none, and return true in three cases. In the first, a pipe had no more bytes for a
  /// moment or a signal arrived while it waited: the caller looks at its flags and calls again. In the second, some
  /// of the records below `from` were passed over: the same holds. In the third, a failure follows, which the next
  /// call throws.
  virtual bool read(record::RowBatch& batch, std::size_t rows_max) = 0;

  /// Receives records that are passed over.
  using Look = std::function<void(const ReadRecord& record)>;
  /// Passes over the records below `from`, before the first read(). Those at `positions` (increasing, below `from`)
  /// are handed to `look` if they are in the input. Returns false after some of the input, so that the caller may
  /// look at its flags; it then has to be called again with the same arguments. Throws Failure(data) where files of
  /// lines end before `from`.
  virtual bool pass(std::span<const std::uint64_t> positions, const Look& look) = 0;
  /// Those records below `position` that are still in memory among the ones that were read or passed over: the first
  /// that was read, and the last or one before it. They are in increasing order, and there may be none.
  [[nodiscard]] virtual std::vector<ReadRecord> at_hand(std::uint64_t position) const = 0;

  /// The first records that were read, at most first_records_max, with their texts and headers. Those that are too
  /// long are left out, and those of a segment are not kept. Valid until the next read().
  [[nodiscard]] virtual std::span<const SeenLine> first_records() const noexcept { return {}; }

  /// How many bytes of the files were read so far, as stored (before decompression), for the operator's progress bar.
  [[nodiscard]] virtual std::uint64_t bytes_read() const noexcept = 0;
  /// The size of all files as stored; empty where one is a pipe.
  [[nodiscard]] virtual std::optional<std::uint64_t> bytes_total() const noexcept = 0;
};

/// What becomes of files whose first lines look like another kind of file (other_kind(), one_document()).
enum class OtherKinds {
  refused,
  /// Their lines are records, if unusable ones. This is for an input whose records were used before: a refusal would
  /// end the releases because of what records hold. A header is no record, and may still be refused.
  read
};

/// Looks at every file, opens the first, binds the schema's columns, and goes to `settings.from`. Throws as Reader
/// does, and Failure(data) for a file of another kind.
[[nodiscard]] std::unique_ptr<Reader> open_reader(const InputSettings& settings, const record::Schema& schema,
                                                  OtherKinds other_kinds = OtherKinds::refused);

/// Throws Failure(configuration) where the windows of users go by append time and the files are of lines, which have
/// no append times.
void require_append_times(const InputSettings& settings);

/// The Failure(data) for an input without a record.
[[nodiscard]] Failure no_records(const InputSettings& settings);

/// Positions from `first` on, below `end`.
struct PositionRange {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
};

/// The position at which the input begins: 0, or the offset at which the recording of a segment begins. Throws
/// Failure(io).
[[nodiscard]] std::uint64_t first_position(const InputSettings& settings);

/// Is called between pieces of an input that is read to its end. It throws where the caller wants to give up, for
/// example because a signal has come.
using Between = std::function<void()>;

/// All positions of the input, each of which is a record, even where from and to exclude some. It is for `replay
/// --passes`. Throws Failure(io), also where a file is a pipe, and Failure(data) for a segment whose offsets have
/// gaps.
[[nodiscard]] PositionRange all_positions(const InputSettings& settings, const Between& between = {});

/// The number of data records in files of lines, including those that from and to exclude. Throws Failure(io), also
/// where a file is a pipe.
[[nodiscard]] std::uint64_t count_records(const InputSettings& settings, const Between& between = {});

/// The ordinal, or the offset, of the first record whose time is at or after `epoch_seconds`; from and to are
/// ignored. Where there is no such record, it is the number of records, or where the segment ends. Records without a
/// readable time are passed over. The times of a segment are those of its messages.
///
/// It is called once, when a start or stop by time is resolved to an ordinal, which the state then keeps. Throws
/// Failure(configuration) without a time column, or without times_public, because the ordinal tells about the
/// records' times. A segment needs no time column, and needs no declaration if the broker gave the times. Throws
/// Failure(io), also where an input is a pipe.
[[nodiscard]] std::uint64_t ordinal_at_or_after(const InputSettings& settings, double epoch_seconds,
                                                const Between& between = {});

}  // namespace nustream::decode
