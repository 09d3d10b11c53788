// Content whose first bytes call it compressed, as the formats that are decompressed share it.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "decode/byte_source.h"
#include "error.h"
#include "fuzz.h"

namespace nustream::fuzz {

/// Reads the file's decompressed content, up to 64 KiB of it.
inline void read_content(const std::string& path) {
  constexpr std::size_t content_max = std::size_t{1} << 16;
  std::array<char, 4096> buffer;
  const std::unique_ptr<decode::ByteSource> source = decode::open_source(path);
  for (std::size_t total = 0; total < content_max;) {
    const decode::ByteSource::Result result = source->read(buffer);
    require(result.bytes <= buffer.size(), "no more content than there is room");
    if (result.end) return;
    require(result.bytes > 0 || result.interrupted, "each read gives content, an end or a failure");
    total += result.bytes;
  }
}

/// Reads a file whose first bytes call it compressed. It has to give content or a failure of the input. What lines of
/// that content become is another kind's.
inline void read_compressed(const std::string& content) {
  try {
    read_content(file_of(content));
  } catch (const Failure& failure) {
    require(failure.code() == Exit::io || failure.code() == Exit::data, "damage is a failure of input");
  }
}

}  // namespace nustream::fuzz
