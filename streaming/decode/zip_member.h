// Finds the one file inside a zip archive by the archive's directory, which stands at its end.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "decode/byte_source.h"

namespace nustream::decode {

struct ZipMember {
  std::string name;
  std::uint16_t method = 0;   ///< 0 is stored, 8 is deflated
  std::uint64_t stored = 0;   ///< its length in the archive, in bytes
  std::uint64_t content = 0;  ///< its length decompressed, in bytes
  std::uint32_t crc = 0;      ///< CRC-32 of its content
  std::uint64_t offset = 0;   ///< where its first stored byte is in the archive
};

/// The one member of the archive at `path`, which is a regular file. Folders, and what macOS keeps beside files, do
/// not count. Throws Failure(data), with what to type, where the archive has no member or several, or where the one
/// is encrypted or compressed in a way that zlib cannot read. Throws Failure(io) where the archive is cut or cannot
/// be read.
[[nodiscard]] ZipMember only_member(const std::string& path);

/// The member's content. Throws Failure(io) where it is damaged, as open_source() does.
[[nodiscard]] std::unique_ptr<ByteSource> open_zip(const std::string& path);

}  // namespace nustream::decode
