// Writes a recorded segment block by block, so that a crash costs at most the last block. Format:
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

/// The file that one partition is recorded to. To be used by one thread at a time. Every call may throw Failure(io).
/// A writer that threw is not used again; resume() goes on with its file.
class SegmentWriter {
 public:
  /// Makes the file with its header, durably. Throws Failure(data) where a file of that name is there.
  [[nodiscard]] static SegmentWriter create(journal::Disk& disk, const journal::Disk::Path& path,
                                            const decode::SegmentHeader& header);
  /// Goes on with a file; one that reached its stop stays as it is. This reads all of the file and changes nothing: a
  /// torn tail or an end marker is cut when something is written in its place. Throws Failure(data) where the file is
  /// damaged. `disk` has to outlive the writer.
  [[nodiscard]] static SegmentWriter resume(journal::Disk& disk, const journal::Disk::Path& path);

  SegmentWriter(SegmentWriter&&) noexcept;
  ~SegmentWriter();

  [[nodiscard]] const decode::SegmentHeader& header() const noexcept { return header_; }
  /// The offset at which the recording goes on. Everything below it was added.
  [[nodiscard]] std::uint64_t next() const noexcept { return next_; }
  /// Whether the stop was reached and the end marker is written; nothing may be added then.
  [[nodiscard]] bool finished() const noexcept { return finished_; }
  /// The number of records in the file, including those that are not yet written.
  [[nodiscard]] std::uint64_t records() const noexcept { return tally_.records() + block_.records; }
  /// The size of the file in bytes, for the operator.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return size_; }

  /// Copies and adds a record, and writes a block once it is full. Throws Failure(data) for an offset that is below
  /// next(), or at or beyond the stop.
  void add(const decode::Message& message);
  /// Writes durably what was added since the last block; does nothing where nothing was added.
  void close_block();
  /// Writes the rest and the end marker, durably. `next` is at least next(), and every record below it was added.
  void finish(std::uint64_t next);

 private:
  struct Compressor;
  struct Place;    // the end of a file that is whole so far
  struct Resumed;  // what is to be done before a resumed file is written to
  SegmentWriter(std::unique_ptr<journal::File> file, Place place);
  void write(const std::string& bytes);

  decode::SegmentChecksum checksum_;
  std::unique_ptr<journal::File> file_;
  std::uint64_t size_;
  std::uint64_t next_;
  decode::SegmentHeader header_;
  decode::SegmentTally tally_;
  bool finished_ = false;
  std::unique_ptr<Resumed> resumed_;  // null after the first write

  decode::SegmentBlock block_;  // the block that is being filled
  decode::RecordBefore before_;
  std::string content_;
  std::string written_;  // bytes of the last block as written; kept to reuse its memory
  std::unique_ptr<Compressor> compressor_;
};

}  // namespace nustream::recording
