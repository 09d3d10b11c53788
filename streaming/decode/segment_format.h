// The frame of a recorded segment: header, blocks, end marker. docs/formats/segment.md is the page.
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
/// Magic, format and the length of the header's fields.
inline constexpr std::size_t segment_prefix_bytes = 16;
inline constexpr std::size_t segment_fields_bytes_max = 4096;
/// A block's header, or an end marker, without the check behind it.
inline constexpr std::size_t segment_frame_bytes = 32;
/// Content of one block.
inline constexpr std::size_t segment_content_bytes_max = std::size_t{1} << 30;

/// What a segment is a recording of.
struct SegmentHeader {
  std::string topic;
  std::string cluster;  ///< id of the cluster; empty: not known
  std::uint32_t partition = 0;
  std::uint64_t start = 0;              ///< offset at which the recording begins
  std::optional<std::uint64_t> stop{};  ///< offset that it stops before; empty: none

  friend bool operator==(const SegmentHeader&, const SegmentHeader&) = default;
};

/// The header of a block.
struct SegmentBlock {
  std::uint32_t records = 0;
  std::uint64_t first = 0;  ///< offset of the first record
  std::uint64_t last = 0;
  std::uint32_t content_bytes = 0;  ///< of the records
  std::uint32_t stored_bytes = 0;   ///< compressed

  friend bool operator==(const SegmentBlock&, const SegmentBlock&) = default;
};

/// The end marker: counts over the file.
struct SegmentEnd {
  std::uint32_t blocks = 0;
  std::uint64_t records = 0;
  std::uint64_t next = 0;  ///< offset at which the recording would go on
  std::uint64_t content_bytes = 0;

  friend bool operator==(const SegmentEnd&, const SegmentEnd&) = default;
};

/// Prefix and fields of the header. Throws Failure(configuration) for a topic or cluster whose name does not fit.
[[nodiscard]] std::string encode(const SegmentHeader& header);
/// segment_frame_bytes of them.
[[nodiscard]] std::string encode(const SegmentBlock& block);
[[nodiscard]] std::string encode(const SegmentEnd& end);

/// Bytes of the header's fields by its first segment_prefix_bytes, at most segment_fields_bytes_max; 0 where the
/// magic, the format or the length is another.
[[nodiscard]] std::size_t parse_segment_prefix(std::string_view bytes);
/// The header by its fields; empty where they are none.
[[nodiscard]] std::optional<SegmentHeader> parse_segment_fields(std::string_view bytes);
/// What the segment_frame_bytes of a frame are; monostate where they are no frame that could be written.
using SegmentFrame = std::variant<std::monostate, SegmentBlock, SegmentEnd>;
[[nodiscard]] SegmentFrame parse_segment_frame(std::string_view bytes);

/// The running hash of a file, of which every check is a part.
class SegmentChecksum {
 public:
  using Check = std::array<char, segment_check_bytes>;

  void add(std::string_view bytes) { hash_.add(bytes); }
  /// The check of everything that was added so far.
  [[nodiscard]] Check check() const;
  /// The same, added at once as the file goes on behind it.
  [[nodiscard]] Check add_check();

 private:
  journal::RunningHash hash_;
};

/// Where a segment stands: what each next block is held against.
class SegmentTally {
 public:
  explicit SegmentTally(const SegmentHeader& header) : next_(header.start), stop_(header.stop) {}

  /// Whether the block can follow: no offset that was passed already, or is at or beyond the stop.
  [[nodiscard]] bool allows(const SegmentBlock& block) const;
  void add(const SegmentBlock& block);
  /// Whether the marker counts what was added.
  [[nodiscard]] bool agrees(const SegmentEnd& end) const;
  /// The marker of everything so far, the recording going on at `next`, which is at least next().
  [[nodiscard]] SegmentEnd end(std::uint64_t next) const;

  /// Behind the last record; the start where there is none.
  [[nodiscard]] std::uint64_t next() const noexcept { return next_; }
  [[nodiscard]] std::uint64_t records() const noexcept { return totals_.records; }

 private:
  std::uint64_t next_;
  std::optional<std::uint64_t> stop_;
  SegmentEnd totals_;
};

}  // namespace nustream::decode
