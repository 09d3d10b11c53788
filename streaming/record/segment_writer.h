// Writes a recorded segment, block by block, so that a crash costs at most the last one. Format:
// docs/formats/segment.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "decode/message.h"
#include "decode/segment_format.h"
#include "decode/segment_record.h"
#include "journal/disk.h"

struct ZSTD_CCtx_s;

namespace nustream::recording {

/// Where the records of one partition go. One thread at a time. Every call may throw Failure(io); the writer is then
/// not used again, and the file is gone on with by resume().
class SegmentWriter {
 public:
  /// Makes the file, with its header, durably. Failure(data) where there is one of that name.
  [[nodiscard]] static SegmentWriter create(journal::Disk& disk, const journal::Disk::Path& path,
                                            const decode::SegmentHeader& header);
  /// Goes on with a file; a file that reached its stop stays as it is. Reads all of it, and changes nothing: a torn
  /// tail or an end marker is cut when something is written in its place. Failure(data) where the file is damaged.
  /// `disk` has to outlive the writer.
  [[nodiscard]] static SegmentWriter resume(journal::Disk& disk, const journal::Disk::Path& path);

  SegmentWriter(SegmentWriter&&) noexcept;
  ~SegmentWriter();

  [[nodiscard]] const decode::SegmentHeader& header() const noexcept { return header_; }
  /// The offset at which the recording goes on: nothing below is missing in what was added.
  [[nodiscard]] std::uint64_t next() const noexcept { return next_; }
  /// Whether the stop was reached and the end marker is there: nothing may be added.
  [[nodiscard]] bool finished() const noexcept { return finished_; }
  /// Records of the file, those not yet written among them.
  [[nodiscard]] std::uint64_t records() const noexcept { return tally_.records() + block_.records; }
  /// Bytes of the file, for the operator.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return size_; }

  /// Adds a record, copied; writes a block once it is full. Failure(data) for an offset that is below next(), or at
  /// or beyond the stop.
  void add(const decode::Message& message);
  /// Writes what was added since the last block, durably. Nothing for nothing.
  void close_block();
  /// Writes the rest and the end marker, durably: every record below `next`, at least next(), was added.
  void finish(std::uint64_t next);

 private:
  struct Compressor;
  struct Place;    // of the end of a file that is whole so far
  struct Resumed;  // what is to be done before that file is written to
  SegmentWriter(std::unique_ptr<journal::File> file, Place place);
  void write(const std::string& bytes);

  decode::SegmentChecksum checksum_;
  std::unique_ptr<journal::File> file_;
  std::uint64_t size_;
  std::uint64_t next_;
  decode::SegmentHeader header_;
  decode::SegmentTally tally_;
  bool finished_ = false;
  std::unique_ptr<Resumed> resumed_;  // until the first write

  decode::SegmentBlock block_;  // that is being filled
  decode::RecordBefore before_;
  std::string content_;
  std::string written_;  // its bytes as written, used again
  std::unique_ptr<Compressor> compressor_;
};

}  // namespace nustream::recording
