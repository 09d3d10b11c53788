// Splits one CSV record field by field: the plain path, which any record can take.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace nustream::decode {

/// Why a line is not a CSV record.
enum class CsvFault { none, empty, binary, open_quote, after_quote, too_many_fields };

/// The fault in one line for rejects; it never holds a part of the record.
[[nodiscard]] const char* description(CsvFault fault) noexcept;

/// The line without its newline, and without a carriage return before that.
[[nodiscard]] std::string_view without_line_end(std::string_view line) noexcept;

/// UTF-8's, with which some programs begin a file.
inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

/// The text without the UTF-8 byte order mark, where it begins with one.
[[nodiscard]] std::string_view without_mark(std::string_view text) noexcept;

/// Splits `line`, which has no line end, by RFC 4180. A field that begins with a quotation mark ends at the next one
/// that is not doubled, and may hold delimiters; quotation marks elsewhere are plain characters. Fields with doubled
/// quotation marks are put into `unquoted`; the memory of `fields` and `unquoted` is used again.
///
/// Stops with too_many_fields after `fields_max`. A NUL byte anywhere is binary. Spaces belong to their field.
[[nodiscard]] CsvFault split_csv_line(std::string_view line, char delimiter, std::size_t fields_max,
                                      std::vector<std::string_view>& fields, std::string& unquoted);

}  // namespace nustream::decode
