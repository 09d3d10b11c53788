// The frame of a recorded segment: header, blocks, end marker. Its page is docs/formats/segment.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "journal/running_hash.h"

namespace nustream::decode {

/// The first bytes of every segment.
inline constexpr std::string_view segment_magic{"NUSEGMT\0", 8};

inline constexpr std::size_t segment_check_bytes = 16;
/// The length of magic, format, and the length of the header's fields.
inline constexpr std::size_t segment_prefix_bytes = 16;
inline constexpr std::size_t segment_fields_bytes_max = 4096;
/// The length of a block's header, or of an end marker, without the check behind it.
inline constexpr std::size_t segment_frame_bytes = 32;
/// The largest content of one block.
inline constexpr std::size_t segment_content_bytes_max = std::size_t{1} << 30;

/// What a segment is a recording of.
struct SegmentHeader {
  std::string topic;
  std::string cluster;  ///< id of the cluster; empty where it is not known
  std::uint32_t partition = 0;
  std::uint64_t start = 0;              ///< offset at which the recording begins
  std::optional<std::uint64_t> stop{};  ///< offset before which it stops; empty where it does not stop

  friend bool operator==(const SegmentHeader&, const SegmentHeader&) = default;
};

/// The header of a block.
struct SegmentBlock {
  std::uint32_t records = 0;
  std::uint64_t first = 0;  ///< offset of the first record
  std::uint64_t last = 0;
  std::uint32_t content_bytes = 0;  ///< length of the records
  std::uint32_t stored_bytes = 0;   ///< their length when compressed

  friend bool operator==(const SegmentBlock&, const SegmentBlock&) = default;
};

/// The end marker, with counts over the whole file.
struct SegmentEnd {
  std::uint32_t blocks = 0;
  std::uint64_t records = 0;
  std::uint64_t next = 0;  ///< offset at which the recording would go on
  std::uint64_t content_bytes = 0;

  friend bool operator==(const SegmentEnd&, const SegmentEnd&) = default;
};

/// The prefix and the fields of the header. Throws Failure(configuration) for a topic or a cluster whose name does
/// not fit.
[[nodiscard]] std::string encode(const SegmentHeader& header);
/// The frame, of segment_frame_bytes.
[[nodiscard]] std::string encode(const SegmentBlock& block);
[[nodiscard]] std::string encode(const SegmentEnd& end);

/// The length of the header's fields, from the header's first segment_prefix_bytes; at most segment_fields_bytes_max.
/// It is 0 where magic, format or length are not those of a segment.
[[nodiscard]] std::size_t parse_segment_prefix(std::string_view bytes);
/// The header from its fields; empty where they are not sound.
[[nodiscard]] std::optional<SegmentHeader> parse_segment_fields(std::string_view bytes);
/// What a frame of segment_frame_bytes is; monostate where no recording could have written it.
using SegmentFrame = std::variant<std::monostate, SegmentBlock, SegmentEnd>;
[[nodiscard]] SegmentFrame parse_segment_frame(std::string_view bytes);

/// The running hash of a file; every check in the file is a part of it.
class SegmentChecksum {
 public:
  using Check = std::array<char, segment_check_bytes>;

  void add(std::string_view bytes) { hash_.add(bytes); }
  /// The check of everything that was added so far.
  [[nodiscard]] Check check() const;
  /// The check of everything that was added so far. The check itself is added at once, because the file goes on after
  /// it.
  [[nodiscard]] Check add_check();

 private:
  journal::RunningHash hash_;
};

/// How far a segment has been written or read. Each next block is compared with it.
class SegmentTally {
 public:
  explicit SegmentTally(const SegmentHeader& header) : next_(header.start), stop_(header.stop) {}

  /// Whether the block can follow: none of its offsets was passed already, or is at or beyond the stop.
  [[nodiscard]] bool allows(const SegmentBlock& block) const;
  void add(const SegmentBlock& block);
  /// Whether the marker counts exactly what was added.
  [[nodiscard]] bool agrees(const SegmentEnd& end) const;
  /// The marker of everything so far. The recording would continue at `next`, which is at least next().
  [[nodiscard]] SegmentEnd end(std::uint64_t next) const;

  /// The offset after the last record; the start where there is none.
  [[nodiscard]] std::uint64_t next() const noexcept { return next_; }
  [[nodiscard]] std::uint64_t records() const noexcept { return totals_.records; }

 private:
  std::uint64_t next_;
  std::optional<std::uint64_t> stop_;
  SegmentEnd totals_;
};

}  // namespace nustream::decode
