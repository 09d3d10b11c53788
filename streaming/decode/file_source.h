// Reads the stored bytes of a file or of standard input.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "decode/byte_source.h"

namespace nustream::decode {

/// A byte source whose first bytes can be looked at before they are read.
class FileSource : public ByteSource {
 public:
  /// Throws Failure(io) where `path` cannot be opened or is a directory.
  explicit FileSource(std::string path);
  ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  /// The first `wanted` bytes of the file; fewer only where it ends. Empty where the wait for them was interrupted.
  /// May be called before the first read() only.
  [[nodiscard]] std::optional<std::string_view> peek(std::size_t wanted);

  Result read(std::span<char> buffer) override;
  [[nodiscard]] bool ready(int milliseconds) override;
  [[nodiscard]] std::uint64_t bytes_read() const noexcept override { return bytes_read_; }

 private:
  Result read_descriptor(std::span<char> buffer);

  std::string path_;
  int descriptor_ = -1;
  bool may_wait_ = true;  // it is not a regular file
  std::string peeked_;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace nustream::decode
