// The bytes of one input file, decompressed, with its records on lines of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "config/input.h"

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
  /// Reads the bytes that are available: at least one byte, unless the input has ended or the wait was interrupted.
  /// Throws Failure(io) where the input cannot be read, or where a compressed input is cut short or damaged. Earlier
  /// calls have returned all bytes before the fault.
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

/// The command that writes the content of a compressed file to its standard output, such as "gzip -dc"; "" for a file
/// that is not compressed, or that cannot be read twice.
[[nodiscard]] std::string unpacking_command(const std::string& path);

/// Opens `path` ("-" is standard input). Decompresses gzip, zstd, bzip2 and xz, which are recognised by their first
/// bytes, and the one member of a zip archive. Throws Failure(io) where the file cannot be opened.
[[nodiscard]] std::unique_ptr<ByteSource> open_source(const std::string& path);

/// The bytes of `source`, where a space replaces each line feed and carriage return inside a quoted field (RFC 4180:
/// a field that begins with a quotation mark, and ends at the next one that is not doubled). Each record is then one
/// line, and the readers of this source treat it as any other line.
///
/// A quotation mark that is never closed would join all records after it into one. It is given up after
/// `quoted_bytes_max` bytes: from there on line breaks end records again. The first `lines_above` lines may hold
/// anything.
[[nodiscard]] std::unique_ptr<ByteSource> joined_quotes(std::unique_ptr<ByteSource> source, char delimiter,
                                                        std::uint64_t lines_above, std::size_t quoted_bytes_max);

/// Opens `path` for reading its lines: with joined quotes where settings.framing_is_trusted. Throws as open_source().
[[nodiscard]] std::unique_ptr<ByteSource> open_lines(const std::string& path, const config::InputSettings& settings);

}  // namespace nustream::decode
