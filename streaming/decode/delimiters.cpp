#include "decode/delimiters.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "decode/byte_source.h"
#include "decode/csv_line.h"
#include "decode/first_lines.h"
#include "decode/segment_rows.h"
#include "error.h"

namespace nustream::decode {
namespace {

// In the order in which they are preferred. A space comes last, since texts hold spaces.
constexpr std::string_view delimiters = ";\t|,\1 ";

/// A line that a character divides.
struct Divided {
  std::vector<std::string_view>
      fields{};  ///< views into the line or into `unquoted`; empty where it cannot be divided
  std::string unquoted{};
};

void divide(std::string_view line, char delimiter, Divided& divided) {
  const CsvFault fault =
      split_csv_line(line, delimiter, std::numeric_limits<std::size_t>::max(), divided.fields, divided.unquoted);
  if (fault != CsvFault::none) divided.fields.clear();
}

/// Whether the line is divided. A space stands in texts and beside other delimiters too, so that it divides a line
/// only where each field is there and none holds the delimiter of the settings.
bool is_clean(const Divided& divided, char delimiter, char present) {
  const auto is_none = [&](std::string_view field) {
    return field.empty() || field.find(present) != std::string_view::npos;
  };
  return !divided.fields.empty() && (delimiter != ' ' || std::ranges::none_of(divided.fields, is_none));
}

bool has_field(const Divided& divided, const std::string& column) {
  return std::ranges::any_of(divided.fields, [&](std::string_view field) { return trimmed(field) == column; });
}

}  // namespace

std::optional<char> other_delimiter(std::string_view line, char present, std::size_t columns) {
  std::optional<char> best;
  std::size_t most = 1;
  Divided divided;
  for (const char delimiter : delimiters) {
    if (delimiter == present) continue;
    divide(line, delimiter, divided);
    const std::size_t count = divided.fields.size();
    if (!is_clean(divided, delimiter, present) || count <= most || (columns != 0 && count != columns)) continue;
    most = count;
    best = delimiter;
  }
  return best;
}

std::optional<char> delimiter_between(std::string_view line, char present, std::span<const std::string> wanted) {
  Divided divided;
  for (const char delimiter : delimiters) {
    if (delimiter == present) continue;
    divide(line, delimiter, divided);
    if (!is_clean(divided, delimiter, present) || divided.fields.size() < 2) continue;
    const auto is_there = [&](const std::string& column) { return has_field(divided, column); };
    const bool is_found = delimiter == ' ' ? !wanted.empty() && std::ranges::all_of(wanted, is_there)
                                           : std::ranges::any_of(wanted, is_there);
    if (is_found) return delimiter;
  }
  return std::nullopt;
}

std::optional<char> other_delimiter_of_records(const config::InputSettings& settings) try {
  if (!has_columns(settings) || settings.files.empty() || is_segment(settings.files.front())) return std::nullopt;
  const std::optional<FirstContent> first = first_content(settings.files.front(), settings, look_bytes);
  if (!first) return std::nullopt;
  const std::vector<std::string_view> lines = first_lines(*first, settings);
  std::span<const std::string_view> records = lines;
  std::size_t columns = settings.columns.size();
  if (has_header(settings) && !lines.empty()) {
    Divided header;
    divide(lines.front(), settings.delimiter, header);
    columns = header.fields.size();
    records = records.subspan(1);
  }
  if (columns < 2) return std::nullopt;
  for (const char delimiter : delimiters) {
    const auto is_divided = [&](std::string_view line) {
      Divided divided;
      divide(line, delimiter, divided);
      return is_clean(divided, delimiter, settings.delimiter) && divided.fields.size() == columns;
    };
    const auto count = static_cast<std::size_t>(std::ranges::count_if(records, is_divided));
    if (delimiter != settings.delimiter && 2 * count > records.size()) return delimiter;
  }
  return std::nullopt;
} catch (const Failure&) {
  return std::nullopt;  // the file went away, or cannot be read: its reader says so
}

std::string typed_delimiter(char delimiter) {
  if (delimiter == '\t') return "\\t";
  return delimiter == '\1' ? "\\u0001" : std::string(1, delimiter);
}

std::string set_delimiter(char delimiter) {
  // R's tables have spaces, and by default row names in front of which the header has no name.
  const char* const row_names =
      delimiter == ' ' ? " (and where R wrote the table, write it with row.names = FALSE)" : "";
  return "set stream.delimiter = \"" + typed_delimiter(delimiter) + "\"" + row_names;
}

}  // namespace nustream::decode
