// The plain path of CSV, which can read any record: it divides one line into fields, and reads a field as a number.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nustream::decode {

/// Why a line is not a CSV record.
enum class CsvFault { none, empty, binary, open_quote, after_quote, too_many_fields };

/// Describes the fault in one line, for the list of rejects. The line never holds a part of the record.
[[nodiscard]] const char* description(CsvFault fault) noexcept;

/// The line without its newline, and without a carriage return before that.
[[nodiscard]] std::string_view without_line_end(std::string_view line) noexcept;

/// The byte order mark of UTF-8, with which some programs begin a file.
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

/// The fields before the last one, and the text of the last one.
struct LeadingFields {
  std::vector<std::string_view> fields;
  std::optional<std::string_view> rest;  ///< empty where the line ends before the delimiter in front of it
};

/// Divides `line`, which has no line end, at its first `count` delimiters, even inside quotation marks. So nothing
/// after the last of them can change what stands before it. The fields keep their quotation marks.
///
/// Returns why the fields cannot be used, in one line for the list of rejects, or null where they can. No byte of
/// `rest` is looked at.
[[nodiscard]] const char* split_leading_fields(std::string_view line, char delimiter, std::size_t count,
                                               LeadingFields& found);

/// The reason that is given for a line with too few fields.
inline constexpr const char* too_few_fields = "fewer fields than columns";

/// The number that record::parse_number reads, with `decimal` ("." or ",") in place of its dot. `true` and `false`
/// are 1 and 0, in small letters, capitals, or with a first capital, and with spaces and tabs around them. Any other
/// text is NaN. Where the decimal is a comma, a text with a dot is NaN as well, because the dot may divide thousands.
[[nodiscard]] double read_csv_number(std::string_view text, char decimal);

}  // namespace nustream::decode
