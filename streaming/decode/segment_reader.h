// Reads a recorded segment block by block, and says what is wrong with a block that is not whole.
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

/// One pass over a segment, in the memory of its largest block. No record is given before its block's check was
/// compared, and no length is trusted before the check of its header was. To be used by one thread at a time.
class SegmentReader {
 public:
  /// Reads the header from `source`, whose bytes begin with the magic. `path` is for messages. Throws Failure(data)
  /// where the header is not sound, and Failure(io) where it is not all there.
  SegmentReader(std::unique_ptr<ByteSource> source, std::string path);
  SegmentReader(const SegmentReader&) = delete;
  SegmentReader& operator=(const SegmentReader&) = delete;

  [[nodiscard]] const SegmentHeader& header() const noexcept { return header_; }

  enum class State {
    block,    ///< block() and records() are the next block's
    end,      ///< the end marker came, and nothing follows it
    cut,      ///< the file ends where more should follow: a recording still writes it, or it was cut
    damaged,  ///< something stands there that no recording writes
  };
  /// Goes on to the next block that has records at or after offset `from`. Blocks before it are checked, but not
  /// decompressed. Must not be called again after it gave another state.
  [[nodiscard]] State advance(std::uint64_t from = 0);

  [[nodiscard]] const SegmentBlock& block() const noexcept { return block_; }
  /// The block's records, valid until the next advance().
  [[nodiscard]] RecordParser records() const { return {{content_.bytes.get(), block_.content_bytes}, block_.first}; }
  /// The marker of State::end.
  [[nodiscard]] const SegmentEnd& end() const noexcept { return end_; }
  /// The tally of all blocks so far.
  [[nodiscard]] const SegmentTally& tally() const noexcept { return tally_; }

  /// The failure for State::cut or damaged, with the offsets: Failure(io) or Failure(data).
  [[nodiscard]] Failure failure() const;
  /// The failure for records() that do not agree with the block's header.
  [[nodiscard]] Failure failure_in_block() const;
  /// Whether what was cut or damaged can be the one write that a crash left incomplete (docs/formats/segment.md). It
  /// reads on, so it may be asked only once.
  [[nodiscard]] bool is_torn_tail();

  /// How many bytes the file has up to the end of the last whole block. checksum() is over these bytes. A recording
  /// continues there.
  [[nodiscard]] std::uint64_t whole_bytes() const noexcept { return whole_bytes_; }
  /// How many bytes stand before that block. They were all synced before the block was written.
  [[nodiscard]] std::uint64_t bytes_before_last_block() const noexcept { return bytes_before_last_block_; }
  [[nodiscard]] const SegmentChecksum& checksum() const noexcept { return whole_; }
  /// How many bytes of the file were read so far.
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return source_->bytes_read(); }

 private:
  /// Memory that only grows and is not cleared. When it grows, its first `kept` bytes stay.
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
  SegmentChecksum whole_;    // of the first whole_bytes_
  std::uint64_t whole_bytes_ = 0;
  std::uint64_t bytes_before_last_block_ = 0;
  std::unique_ptr<ByteSource> source_;
  std::string path_;
  SegmentHeader header_;
  SegmentTally tally_{header_};

  std::string frame_;  // the last frame, with its check
  SegmentBlock block_;
  SegmentEnd end_;
  Buffer stored_;
  Buffer content_;
  std::unique_ptr<ZSTD_DCtx_s, std::size_t (*)(ZSTD_DCtx_s*)> decompressor_;
  Damage damage_ = Damage::none;
};

}  // namespace nustream::decode
