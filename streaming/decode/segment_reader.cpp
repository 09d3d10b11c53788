// The steps of reading a block are: the frame with its check, the stored bytes with theirs, then decompression. Every
// check is of all bytes of the file so far, so that a block cannot be moved or left out (docs/formats/segment.md).
#include "decode/segment_reader.h"

#include <zstd.h>

#include <algorithm>
#include <utility>

namespace nustream::decode {
namespace {

constexpr std::size_t framed_bytes = segment_frame_bytes + segment_check_bytes;
// A crash may leave a file whose length reached the disk and whose bytes did not. They read as NUL: at least this
// many in a row.
constexpr std::size_t hole_bytes = 16;
// Memory for the first block. The memory for a longer block grows as its bytes arrive.
constexpr std::size_t first_bytes = std::size_t{1} << 20;

constexpr const char* record_again =
    "the records before it were used; restore the file, or record the topic again (record --resume cuts what a crash "
    "left undone)";

}  // namespace

char* SegmentReader::Buffer::room(std::size_t size, std::size_t kept) {
  if (size > capacity) {
    // The bytes are overwritten at once, so that clearing them first would be time lost.
    auto larger = std::make_unique_for_overwrite<char[]>(size);
    std::copy_n(bytes.get(), kept, larger.get());
    bytes = std::move(larger);
    capacity = size;
  }
  return bytes.get();
}

SegmentReader::SegmentReader(std::unique_ptr<ByteSource> source, std::string path)
    : source_(std::move(source)), path_(std::move(path)), decompressor_(ZSTD_createDCtx(), ZSTD_freeDCtx) {
  if (!decompressor_) throw Failure(Exit::io, "cannot read '" + path_ + "': no memory to decompress it; free some");
  read_header();
}

// Reads up to `bytes` bytes, fewer where the file ends.
std::size_t SegmentReader::fill(char* out, std::size_t bytes) {
  std::size_t filled = 0;
  while (filled < bytes) {
    const ByteSource::Result result = source_->read({out + filled, bytes - filled});
    filled += result.bytes;
    if (result.end) break;
  }
  return filled;
}

// Reads `bytes` into stored_. The file only claims that these bytes are there. So memory is taken for at most twice
// as many as have come.
bool SegmentReader::fill_stored(std::size_t bytes) {
  std::size_t filled = 0;
  while (filled < bytes) {
    const std::size_t size = std::min(bytes, std::max({first_bytes, 2 * filled, stored_.capacity}));
    filled += fill(stored_.room(size, filled) + filled, size - filled);
    if (filled < size) return false;
  }
  return true;
}

bool SegmentReader::matches(std::string_view check) const {
  const SegmentChecksum::Check expected = running_.check();
  return std::equal(check.begin(), check.end(), expected.begin(), expected.end());
}

void SegmentReader::read_header() {
  const auto take = [&](std::size_t bytes) {
    std::string taken(bytes, '\0');
    if (fill(taken.data(), bytes) == bytes) return taken;
    throw Failure(Exit::io,
                  "'" + path_ + "' ends in the header of a segment: no record of it was used; record it again");
  };
  const auto failure = [&](const char* what) {
    return Failure(Exit::data, "'" + path_ + "' " + what + ": nothing of it was used; record it again");
  };
  const std::string prefix = take(segment_prefix_bytes);
  const std::size_t length = parse_segment_prefix(prefix);
  if (length == 0) throw failure("is a segment of another format, or its header is damaged");
  const std::string fields = take(length);
  running_.add(prefix);
  running_.add(fields);
  const std::string check = take(segment_check_bytes);
  const std::optional<SegmentHeader> header = parse_segment_fields(fields);
  // The fields are parsed before the check is compared, since parsing is safe for any bytes, but nothing of them
  // is used unless it agrees.
  if (!matches(check) || !header) throw failure("is damaged in its header");
  header_ = *header;
  tally_ = SegmentTally(header_);
  running_.add(check);
  whole_ = running_;
  whole_bytes_ = segment_prefix_bytes + length + segment_check_bytes;
}

SegmentReader::State SegmentReader::damaged(Damage damage) noexcept {
  damage_ = damage;
  return State::damaged;
}

SegmentReader::State SegmentReader::advance(std::uint64_t from) {
  while (true) {
    frame_.resize(framed_bytes);
    frame_.resize(fill(frame_.data(), framed_bytes));
    if (frame_.size() < framed_bytes) return State::cut;
    const std::string_view frame(frame_.data(), segment_frame_bytes);
    const std::string_view check = std::string_view(frame_).substr(segment_frame_bytes);
    // A check is of all bytes before it, and then is itself one of the bytes before the next check.
    running_.add(frame);
    if (!matches(check)) return damaged(Damage::frame_check);
    running_.add(check);
    const SegmentFrame parsed = parse_segment_frame(frame);
    if (const auto* end = std::get_if<SegmentEnd>(&parsed)) return finish(*end);
    const auto* block = std::get_if<SegmentBlock>(&parsed);
    // The bytes are as they were written, but no recording writes such a block there.
    if (block == nullptr || !tally_.allows(*block)) return damaged(Damage::frame);
    block_ = *block;
    const State state = read_stored();
    if (state != State::block) return state;
    // A block before `from` is checked and passed over, which is faster than decompressing it.
    if (block_.last >= from) return decompress() ? State::block : damaged(Damage::content);
  }
}

// Reads the stored bytes of block_ and compares their check.
SegmentReader::State SegmentReader::read_stored() {
  const std::size_t bytes = block_.stored_bytes;
  // The check of the frame agreed, but no recording compresses to more than that.
  if (bytes > ZSTD_COMPRESSBOUND(segment_content_bytes_max)) return damaged(Damage::frame);
  if (!fill_stored(bytes + segment_check_bytes)) return State::cut;
  const char* const stored = stored_.bytes.get();
  running_.add({stored, bytes});
  const std::string_view check(stored + bytes, segment_check_bytes);
  if (!matches(check)) return damaged(Damage::stored_check);
  running_.add(check);
  // From here on the block counts as whole. A recording that is continued cuts everything behind whole_bytes_.
  whole_ = running_;
  bytes_before_last_block_ = whole_bytes_;
  whole_bytes_ += framed_bytes + bytes + segment_check_bytes;
  tally_.add(block_);
  return State::block;
}

// False where the stored bytes are no frame of zstd with exactly the content that the header announces.
bool SegmentReader::decompress() {
  char* const content = content_.room(block_.content_bytes);
  return ZSTD_decompressDCtx(decompressor_.get(), content, block_.content_bytes, stored_.bytes.get(),
                             block_.stored_bytes) == block_.content_bytes;
}

// The end marker was read: it has to agree with the blocks, and nothing may follow it.
SegmentReader::State SegmentReader::finish(const SegmentEnd& end) {
  end_ = end;
  // The marker counts blocks and records, so that a file without some of them is found out.
  if (!tally_.agrees(end)) return damaged(Damage::frame);
  // One more byte is enough to know that the file goes on.
  char behind = 0;
  return fill(&behind, 1) == 0 ? State::end : damaged(Damage::behind_end);
}

bool SegmentReader::is_torn_tail() {
  char behind[hole_bytes];
  switch (damage_) {
    case Damage::none:
      return true;  // the file was cut
    // A crash can leave the last write incomplete. Then nothing stands behind it.
    case Damage::stored_check:
      return fill(behind, 1) == 0;
    case Damage::frame_check:
      break;
    default:
      return false;
  }
  // This number of bytes after the frame belong to a hole that begins in the frame.
  const std::size_t count = fill(behind, hole_bytes);
  frame_.append(behind, count);
  // Where the frame's own bytes did not reach the disk, they read as NUL.
  const std::size_t hole = frame_.find(std::string(hole_bytes, '\0'));
  const bool reaches_end = count < hole_bytes && frame_.back() == '\0';
  return hole < framed_bytes || reaches_end;
}

Failure SegmentReader::failure() const {
  const std::string next = std::to_string(tally_.next());
  switch (damage_) {
    case Damage::none:
      return {Exit::io, "'" + path_ + "' ends where the segment does not, before offset " + next +
                            ": the records below it were used; wait for the recording to end, or go on with it by "
                            "record --resume"};
    case Damage::stored_check:
    case Damage::content:
      return failure_in_block();
    case Damage::behind_end:
      return {Exit::data, "'" + path_ + "' goes on behind its end at offset " + next + ": " + record_again};
    case Damage::frame:
    case Damage::frame_check:
      break;
  }
  return {Exit::data, "'" + path_ + "' is damaged from offset " + next + " on: " + record_again};
}

Failure SegmentReader::failure_in_block() const {
  return {Exit::data, "'" + path_ + "' is damaged in the block of offsets " + std::to_string(block_.first) + " to " +
                          std::to_string(block_.last) + ": " + record_again};
}

}  // namespace nustream::decode
