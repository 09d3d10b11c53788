// Reads a regular file at any place.
#pragma once

#include <cstdint>
#include <string>

namespace nustream::decode {

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

}  // namespace nustream::decode
