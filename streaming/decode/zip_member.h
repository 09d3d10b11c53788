// A zip archive: its bytes at any place, and the one file inside it, found by the directory at its end.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "decode/byte_source.h"

namespace nustream::decode {

/// Reads a regular file at any place.
class RandomAccess {
 public:
  /// Throws Failure(io) where `path` cannot be opened, and Failure(data) where it is not a regular file.
  explicit RandomAccess(const std::string& path);
  ~RandomAccess();
  RandomAccess(const RandomAccess&) = delete;
  RandomAccess& operator=(const RandomAccess&) = delete;

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The `bytes` bytes from `offset` on. Throws Failure(io) where they are not all there.
  [[nodiscard]] std::string read(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  std::string path_;
  int descriptor_;
  std::uint64_t size_ = 0;
};

struct ZipMember {
  std::string name;
  std::uint16_t method = 0;   ///< 0 is stored, 8 is deflated
  std::uint64_t stored = 0;   ///< its length in the archive, in bytes
  std::uint64_t content = 0;  ///< its length decompressed, in bytes
  std::uint32_t crc = 0;      ///< CRC-32 of its content
  std::uint64_t offset = 0;   ///< where its first stored byte is in the archive
};

/// The one member of the archive at `path`, which is a regular file. Folders, and files that macOS adds beside
/// others, do not count. Throws Failure(data), with what to type, where the archive has no member or several, or
/// where its member is encrypted or compressed in a way that zlib cannot read. Throws Failure(io) where the archive
/// is cut or cannot be read.
[[nodiscard]] ZipMember only_member(const std::string& path);

/// The member's content. Throws Failure(io) where it is damaged, as open_source() does.
[[nodiscard]] std::unique_ptr<ByteSource> open_zip(const std::string& path);

}  // namespace nustream::decode
