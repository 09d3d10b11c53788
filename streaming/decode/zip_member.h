// The one file inside of a zip archive: where it lies, told by the archive's directory, which stands at its end.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "decode/byte_source.h"

namespace nustream::decode {

struct ZipMember {
  std::string name;
  std::uint16_t method = 0;   ///< 0: stored; 8: deflated
  std::uint64_t stored = 0;   ///< bytes of it in the archive
  std::uint64_t content = 0;  ///< bytes of it decompressed
  std::uint32_t crc = 0;      ///< CRC-32 of its content
  std::uint64_t offset = 0;   ///< of its first stored byte in the archive
};

/// The one member of the archive at `path`, a regular file; folders, and what macOS keeps beside files, do not count.
/// Failure(data), with what to type, where it has none or several, or where the one is encrypted or compressed as
/// zlib cannot read; Failure(io) where the archive is cut or cannot be read.
[[nodiscard]] ZipMember only_member(const std::string& path);

/// Its content. Failure(io) where it is damaged, as from open_source().
[[nodiscard]] std::unique_ptr<ByteSource> open_zip(const std::string& path);

}  // namespace nustream::decode
