// The bytes of one input file, decompressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace nustream::decode {

/// A sequence of bytes with an end. To be used by one thread at a time.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  struct Result {
    std::size_t bytes = 0;     ///< read into the front of the buffer
    bool end = false;          ///< the input has ended cleanly; nothing follows
    bool interrupted = false;  ///< a signal arrived, or nothing came for a moment; call again to go on
  };
  /// Reads what is at hand: at least one byte, unless the input has ended or the wait was interrupted. Throws
  /// Failure(io) where the input cannot be read, or where a compressed one is cut short or damaged; what came before
  /// was returned by earlier calls.
  virtual Result read(std::span<char> buffer) = 0;

  /// Whether read() would return without waiting. Waits at most `milliseconds` to find out.
  [[nodiscard]] virtual bool ready(int milliseconds) = 0;
  /// How many bytes of the file were read so far, as stored.
  [[nodiscard]] virtual std::uint64_t bytes_read() const noexcept = 0;
};

/// Whether `path` names standard input.
[[nodiscard]] bool is_standard_input(const std::string& path) noexcept;

/// The size of a regular file as stored; empty for a pipe or a device. Throws Failure(io) where there is no such
/// file, or where it is a directory.
[[nodiscard]] std::optional<std::uint64_t> stored_size(const std::string& path);

/// Opens `path` ("-" is standard input). Decompresses gzip, zstd, bzip2 and xz, which are recognised by their first
/// bytes, and the one member of a zip archive. Throws Failure(io) where the file cannot be opened.
[[nodiscard]] std::unique_ptr<ByteSource> open_source(const std::string& path);

}  // namespace nustream::decode
