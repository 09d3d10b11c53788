// The fixed parts of a segment as bytes, and the checks of what is read back. Reading trusts nothing: each function
// says what no recording could have written, before a length is used.
#include "decode/segment_format.h"

#include <algorithm>

#include "error.h"
#include "secrets/fields.h"

namespace nustream::decode {
namespace {

using secrets::append_integer;
using secrets::append_text;

constexpr std::uint32_t format = 1;
constexpr std::uint32_t block_kind = 1;
constexpr std::uint32_t end_kind = 2;
// Kafka's names of topics have 249 bytes at most. Fields with two texts of this length fit into
// segment_fields_bytes_max.
constexpr std::size_t text_bytes_max = 1024;

// A frame of zstd consists of blocks of four bytes or more (an empty one may have three), each of which has at most
// 128 KiB of content (RFC 8878, section 3.1.1.2). A block that claims more content is not sound.
constexpr std::uint64_t zstd_block_bytes_min = 4;
constexpr std::uint64_t zstd_block_content_max = std::uint64_t{128} << 10;

/// The fields of the header as bytes, without prefix and check.
std::string fields_of(const SegmentHeader& header) {
  std::string fields;
  append_integer(header.partition, fields);
  append_integer(header.start, fields);
  append_integer(static_cast<std::uint8_t>(header.stop ? 1 : 0), fields);
  append_integer(header.stop.value_or(0), fields);
  append_text(header.topic, fields);
  append_text(header.cluster, fields);
  return fields;
}

}  // namespace

std::string encode(const SegmentHeader& header) {
  if (header.topic.empty() || header.topic.size() > text_bytes_max || header.cluster.size() > text_bytes_max) {
    throw Failure(Exit::configuration, "a topic's name has 1 to " + std::to_string(text_bytes_max) +
                                           " bytes, and a cluster's id at most as many; check kafka.topic");
  }
  const std::string fields = fields_of(header);
  std::string bytes(segment_magic);
  append_integer(format, bytes);
  append_integer(static_cast<std::uint32_t>(fields.size()), bytes);
  return bytes + fields;
}

std::string encode(const SegmentBlock& block) {
  std::string bytes;
  append_integer(block_kind, bytes);
  append_integer(block.records, bytes);
  append_integer(block.first, bytes);
  append_integer(block.last, bytes);
  append_integer(block.content_bytes, bytes);
  append_integer(block.stored_bytes, bytes);
  return bytes;
}

std::string encode(const SegmentEnd& end) {
  std::string bytes;
  append_integer(end_kind, bytes);
  append_integer(end.blocks, bytes);
  append_integer(end.records, bytes);
  append_integer(end.next, bytes);
  append_integer(end.content_bytes, bytes);
  return bytes;
}

std::size_t parse_segment_prefix(std::string_view bytes) {
  if (bytes.size() != segment_prefix_bytes || !bytes.starts_with(segment_magic)) return 0;
  secrets::FieldReader reader(bytes.substr(segment_magic.size()), "unreachable: the length was checked");
  if (reader.integer<std::uint32_t>() != format) return 0;
  const std::size_t length = reader.integer<std::uint32_t>();
  return length <= segment_fields_bytes_max ? length : 0;
}

std::optional<SegmentHeader> parse_segment_fields(std::string_view bytes) {
  SegmentHeader header;
  try {
    secrets::FieldReader reader(bytes, "the header is too short");
    header.partition = reader.integer<std::uint32_t>();
    header.start = reader.integer<std::uint64_t>();
    const auto bounded = reader.integer<std::uint8_t>();
    const auto stop = reader.integer<std::uint64_t>();
    // A header has one form only, so that equal recordings have equal bytes.
    if (bounded > 1 || (bounded == 0 && stop != 0)) return std::nullopt;
    if (bounded == 1) header.stop = stop;
    header.topic = reader.text();
    header.cluster = reader.text();
    if (!reader.rest().empty() || header.topic.empty()) return std::nullopt;
  } catch (const Failure&) {
    return std::nullopt;
  }
  return header;
}

SegmentFrame parse_segment_frame(std::string_view bytes) {
  if (bytes.size() != segment_frame_bytes) return {};
  secrets::FieldReader reader(bytes, "unreachable: the length was checked");
  const auto kind = reader.integer<std::uint32_t>();
  const auto count = reader.integer<std::uint32_t>();
  const auto first = reader.integer<std::uint64_t>();
  const auto second = reader.integer<std::uint64_t>();
  if (kind == end_kind) return SegmentEnd{count, first, second, reader.integer<std::uint64_t>()};
  if (kind != block_kind) return {};
  const SegmentBlock block{count, first, second, reader.integer<std::uint32_t>(), reader.integer<std::uint32_t>()};
  // Offsets increase by one or more from record to record, so that n records span at least n − 1. The largest offset
  // is excluded, since the offset behind it has to exist.
  const bool sound = block.records > 0 && block.last >= block.first &&
                     block.last - block.first >= block.records - 1 && block.last != UINT64_MAX &&
                     block.content_bytes > 0 && block.content_bytes <= segment_content_bytes_max &&
                     block.content_bytes <= block.stored_bytes / zstd_block_bytes_min * zstd_block_content_max;
  return sound ? SegmentFrame(block) : SegmentFrame();
}

SegmentChecksum::Check SegmentChecksum::check() const {
  const journal::Hash hash = hash_.value();
  Check check{};
  // A part of the hash is enough to recognise damage.
  std::transform(hash.begin(), hash.begin() + check.size(), check.begin(),
                 [](std::uint8_t byte) { return static_cast<char>(byte); });
  return check;
}

SegmentChecksum::Check SegmentChecksum::add_check() {
  const Check found = check();
  add({found.data(), found.size()});
  return found;
}

bool SegmentTally::allows(const SegmentBlock& block) const {
  // Blocks that overlap or go back would give a record twice.
  return block.first >= next_ && (!stop_ || block.last < *stop_);
}

void SegmentTally::add(const SegmentBlock& block) {
  next_ = block.last + 1;
  ++totals_.blocks;
  totals_.records += block.records;
  totals_.content_bytes += block.content_bytes;
}

bool SegmentTally::agrees(const SegmentEnd& end) const {
  // The marker may name an offset further on, behind records that a topic does not hand out.
  return end.next >= next_ && end == this->end(end.next);
}

SegmentEnd SegmentTally::end(std::uint64_t next) const {
  SegmentEnd marker = totals_;
  marker.next = next;
  return marker;
}

}  // namespace nustream::decode
