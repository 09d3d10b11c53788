// Records of a recorded stream as rows: of files of lines, or of a recorded segment of a topic.
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
#include "decode/read_record.h"
#include "error.h"
#include "nustream/record/batch.h"
#include "nustream/record/schema.h"

namespace nustream::decode {

using config::Format;
using config::InputSettings;

/// Reads rows; ordinals count data records over all files, from 0. Failure(io) for a file that cannot be read
/// (after the rows before it were given), Failure(data) for an empty file or one without a header, and for a damaged
/// segment (after the rows of its whole blocks), Failure(configuration) for a column that is not there.
class Reader {
 public:
  virtual ~Reader() = default;
  /// Appends up to `rows_max` rows to `batch`; false once nothing is left (batch may still have got rows).
  ///
  /// May append fewer, none included, and return true: a pipe had no more at hand for a moment or a signal arrived
  /// while waiting (the caller looks at its flags and calls again), or a failure follows, which the next call
  /// throws.
  virtual bool read(record::RowBatch& batch, std::size_t rows_max) = 0;

  /// Handed records that are passed.
  using Look = std::function<void(const ReadRecord& record)>;
  /// Before the first read(): passes the records below `from`, handing those at `positions` (increasing, below it) to
  /// `look`, as far as they are there. False after some of the input, where the caller may look at its flags: to be
  /// called again with the same.
  /// Failure(data) where files of lines end before `from`.
  virtual bool pass(std::span<const std::uint64_t> positions, const Look& look) = 0;
  /// Of the records below `position` that were read or passed, those at hand: the first that was read, and the last,
  /// or one before it. Increasing; perhaps none.
  [[nodiscard]] virtual std::vector<ReadRecord> at_hand(std::uint64_t position) const = 0;

  /// Bytes of the files read so far, as stored (before decompression), for the operator's progress bar.
  [[nodiscard]] virtual std::uint64_t bytes_read() const noexcept = 0;
  /// Total bytes of the files as stored; empty where one is a pipe.
  [[nodiscard]] virtual std::optional<std::uint64_t> bytes_total() const noexcept = 0;
};

/// Opens the first file (every one is looked at first) and binds the schema's columns; throws as above. Skips to
/// `settings.from`.
[[nodiscard]] std::unique_ptr<Reader> open_reader(const InputSettings& settings, const record::Schema& schema);

/// What is said of an input without a record: Failure(data).
[[nodiscard]] Failure no_records(const InputSettings& settings);

/// Positions from `first` to before `end`.
struct PositionRange {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
};

/// The position at which the input begins: 0, or the offset at which the recording of a segment does. Failure(io).
[[nodiscard]] std::uint64_t first_position(const InputSettings& settings);

/// All positions of the input, each of which is a record, whatever from and to say: for `replay --passes`.
/// Failure(io), also where one is a pipe; Failure(data) for a segment whose offsets have gaps.
[[nodiscard]] PositionRange all_positions(const InputSettings& settings);

/// Number of data records in files of lines, whatever from and to say. Failure(io), also where one is a pipe.
[[nodiscard]] std::uint64_t count_records(const InputSettings& settings);

/// Ordinal, or offset, of the first record whose time is at or after `epoch_seconds`, whatever from and to say; the
/// number of records, or where the segment ends, where there is none. Records without a readable time are passed
/// over. The times of a segment are those of its messages.
///
/// To be called once, when a start or stop by time is resolved to an ordinal, which is then kept in the state.
/// Failure(configuration) without a time column, or unless times_public: the ordinal tells of the records' times. A
/// segment needs no column, and no declaration where the broker gave the times. Failure(io), also where an input is a
/// pipe.
[[nodiscard]] std::uint64_t ordinal_at_or_after(const InputSettings& settings, double epoch_seconds);

}  // namespace nustream::decode
