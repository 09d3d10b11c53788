// Line breaks inside the quotation marks of CSV, for files whose owner vouches for their quotes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "config/input.h"
#include "decode/byte_source.h"

namespace nustream::decode {

/// The bytes of `source` with a space in the place of each line feed and carriage return that stands inside a quoted
/// field (RFC 4180: one that begins with a quotation mark, and ends at the next one that is not doubled). Each record
/// is then one line, and everything behind this source reads it as it reads any other line.
///
/// A quotation mark that is never closed would take all records behind it into one. It is given up after
/// `quoted_bytes_max` bytes, so that line breaks end records again. The first `lines_above` lines may hold anything.
[[nodiscard]] std::unique_ptr<ByteSource> joined_quotes(std::unique_ptr<ByteSource> source, char delimiter,
                                                        std::uint64_t lines_above, std::size_t quoted_bytes_max);

/// Opens `path` for reading its lines: with joined quotes where settings.framing_is_trusted. Throws as open_source().
[[nodiscard]] std::unique_ptr<ByteSource> open_lines(const std::string& path, const config::InputSettings& settings);

}  // namespace nustream::decode
