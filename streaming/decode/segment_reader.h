// Reads a recorded segment block by block, and tells what is wrong with one that is not whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "decode/byte_source.h"
#include "decode/segment_format.h"
#include "decode/segment_record.h"
#include "error.h"

struct ZSTD_DCtx_s;

namespace nustream::decode {

/// One pass over a segment, in the memory of its largest block. No record is given before its block's check has been
/// seen to fit, and no length is trusted before that of its header has. One thread at a time.
class SegmentReader {
 public:
  /// Reads the header from `source`, whose bytes begin with the magic. `path` is for messages. Failure(data) where
  /// the header is not sound, Failure(io) where it is not all there.
  SegmentReader(std::unique_ptr<ByteSource> source, std::string path);
  SegmentReader(const SegmentReader&) = delete;
  SegmentReader& operator=(const SegmentReader&) = delete;

  [[nodiscard]] const SegmentHeader& header() const noexcept { return header_; }

  enum class State {
    block,    ///< block() and records() are those of the next block
    end,      ///< the end marker, and nothing behind it
    cut,      ///< the file ends where more should follow: still being written, or cut
    damaged,  ///< something that was never written so
  };
  /// Goes on to the next block that has records at or behind offset `from`; the ones before it are checked, but not
  /// decompressed. To be called no more once it gave another state.
  [[nodiscard]] State advance(std::uint64_t from = 0);

  [[nodiscard]] const SegmentBlock& block() const noexcept { return block_; }
  /// The block's records, valid until the next advance().
  [[nodiscard]] RecordParser records() const { return {{content_.bytes.get(), block_.content_bytes}, block_.first}; }
  /// Marker of State::end.
  [[nodiscard]] const SegmentEnd& end() const noexcept { return end_; }
  /// Every block so far.
  [[nodiscard]] const SegmentTally& tally() const noexcept { return tally_; }

  /// What State::cut or damaged comes to: Failure(io) or Failure(data), with the offsets.
  [[nodiscard]] Failure failure() const;
  /// The failure for records() that do not add up to what the block's header says.
  [[nodiscard]] Failure failure_in_block() const;
  /// Whether what cut or damaged found can be the one write that a crash left undone (docs/formats/segment.md). Reads
  /// on, so that it is to be asked once.
  [[nodiscard]] bool is_torn_tail();

  /// Bytes of the file up to the end of the last whole block, and the checksum of those: where a recording goes on.
  [[nodiscard]] std::uint64_t whole_bytes() const noexcept { return whole_bytes_; }
  /// Bytes before that block: all but them were synced before it was written.
  [[nodiscard]] std::uint64_t bytes_before_last_block() const noexcept { return bytes_before_last_block_; }
  [[nodiscard]] const SegmentChecksum& checksum() const noexcept { return whole_; }
  /// Bytes of the file read so far.
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return source_->bytes_read(); }

 private:
  /// Memory that only grows, and is not cleared; of what it held, the first `kept` bytes stay.
  struct Buffer {
    std::unique_ptr<char[]> bytes;
    std::size_t capacity = 0;
    [[nodiscard]] char* room(std::size_t size, std::size_t kept = 0);
  };
  /// Where State::damaged was found.
  enum class Damage { none, frame_check, frame, stored_check, content, behind_end };

  void read_header();
  [[nodiscard]] std::size_t fill(char* out, std::size_t bytes);
  [[nodiscard]] bool fill_stored(std::size_t bytes);
  [[nodiscard]] bool matches(std::string_view check) const;
  [[nodiscard]] State damaged(Damage damage) noexcept;
  [[nodiscard]] State read_stored();
  [[nodiscard]] State finish(const SegmentEnd& end);
  [[nodiscard]] bool decompress();

  SegmentChecksum running_;  // of everything that was read
  SegmentChecksum whole_;    // up to whole_bytes_
  std::uint64_t whole_bytes_ = 0;
  std::uint64_t bytes_before_last_block_ = 0;
  std::unique_ptr<ByteSource> source_;
  std::string path_;
  SegmentHeader header_;
  SegmentTally tally_{header_};

  std::string frame_;  // the last one, with its check
  SegmentBlock block_;
  SegmentEnd end_;
  Buffer stored_;
  Buffer content_;
  std::unique_ptr<ZSTD_DCtx_s, std::size_t (*)(ZSTD_DCtx_s*)> decompressor_;
  Damage damage_ = Damage::none;
};

}  // namespace nustream::decode
