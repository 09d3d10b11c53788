// The bytes of one input file, decompressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace nustream::decode {

/// A sequence of bytes with an end. One thread at a time.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  struct Result {
    std::size_t bytes = 0;     ///< read into the front of the buffer
    bool end = false;          ///< nothing follows: the end of the input, clean
    bool interrupted = false;  ///< a signal arrived, or nothing for a moment; call again to go on
  };
  /// Reads what is at hand, at least one byte unless at the end or interrupted. Failure(io) where the input
  /// cannot be read or a compressed one is cut short or damaged; what came before was returned already.
  virtual Result read(std::span<char> buffer) = 0;

  /// Whether read() would return without a wait, waiting at most `milliseconds` to find out.
  [[nodiscard]] virtual bool ready(int milliseconds) = 0;
  /// Bytes taken from the file so far, as stored.
  [[nodiscard]] virtual std::uint64_t bytes_read() const noexcept = 0;
};

/// Whether `path` names standard input.
[[nodiscard]] bool is_standard_input(const std::string& path) noexcept;

/// Size of a regular file as stored; empty for a pipe or a device. Failure(io) where there is no such file, or
/// where it is a directory.
[[nodiscard]] std::optional<std::uint64_t> stored_size(const std::string& path);

/// Opens `path` ("-": standard input) and decompresses what is compressed, told by its first bytes: gzip, zstd,
/// bzip2, xz, and of zip archives the one member. Failure(io) where it cannot be opened.
[[nodiscard]] std::unique_ptr<ByteSource> open_source(const std::string& path);

}  // namespace nustream::decode
