// One CSV record, field by field: the plain path, which any record can take.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace nustream::decode {

/// What a line may have in the way of being a CSV record.
enum class CsvFault { none, empty, binary, open_quote, after_quote, too_many_fields };

/// One line for rejects; never holds a part of the line.
[[nodiscard]] const char* description(CsvFault fault) noexcept;

/// The line without its newline and without a carriage return before that.
[[nodiscard]] std::string_view without_line_end(std::string_view line) noexcept;

/// The text without the UTF-8 byte order mark that it begins with, if it does.
[[nodiscard]] std::string_view without_mark(std::string_view text) noexcept;

/// Splits `line`, which has no line end, by RFC 4180: a field that begins with a quotation mark ends at the next
/// one that is not doubled, and may hold delimiters; quotation marks elsewhere are plain characters. Reuses the
/// memory of `fields` and of `unquoted`, where fields with doubled quotation marks are put.
///
/// Stops with too_many_fields after `fields_max`. A NUL byte anywhere is binary; spaces belong to their field.
[[nodiscard]] CsvFault split_csv_line(std::string_view line, char delimiter, std::size_t fields_max,
                                      std::vector<std::string_view>& fields, std::string& unquoted);

}  // namespace nustream::decode
