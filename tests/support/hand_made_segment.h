// Makes segments that no recorder writes, with checks that fit.
#pragma once

#include <zstd.h>

#include <string>

#include "decode/segment_format.h"

namespace nustream::tests {

class HandMadeSegment {
 public:
  explicit HandMadeSegment(const decode::SegmentHeader& header) { add(encode(header)); }

  /// Adds a block with `block` as its header, whose lengths are set.
  HandMadeSegment& block(decode::SegmentBlock block, const std::string& content) {
    std::string stored(ZSTD_compressBound(content.size()), '\0');
    stored.resize(ZSTD_compress(stored.data(), stored.size(), content.data(), content.size(), 1));
    block.content_bytes = static_cast<std::uint32_t>(content.size());
    return stored_block(block, stored);
  }
  /// Adds a block with these bytes in place of compressed ones.
  HandMadeSegment& stored_block(decode::SegmentBlock block, const std::string& stored) {
    block.stored_bytes = static_cast<std::uint32_t>(stored.size());
    add(encode(block));
    add(stored);
    return *this;
  }
  HandMadeSegment& end(const decode::SegmentEnd& end) {
    add(encode(end));
    return *this;
  }
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  void add(const std::string& part) {
    checksum_.add(part);
    const decode::SegmentChecksum::Check check = checksum_.add_check();
    bytes_ += part;
    bytes_.append(check.data(), check.size());
  }

  std::string bytes_;
  decode::SegmentChecksum checksum_;
};

}  // namespace nustream::tests
