// Finds records again for the operator: reads the files once more up to the last record that is wanted, and keeps the
// lines and their places.
#include "decode/seen_lines.h"

#include <simdjson.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "config/unicode.h"
#include "decode/byte_source.h"
#include "decode/csv_columns.h"
#include "decode/csv_line.h"
#include "decode/member_hints.h"
#include "decode/recorded_reader.h"
#include "decode/segment_rows.h"
#include "error.h"

namespace nustream::decode {
namespace {

constexpr std::size_t shown_bytes_max = 60;  // bytes

/// Whether the files can be read once more. A segment has offsets and no lines.
bool can_be_shown(const config::InputSettings& settings) {
  return std::all_of(settings.files.begin(), settings.files.end(), [](const std::string& file) {
    return !is_standard_input(file) && stored_size(file).has_value() && !is_segment(file);
  });
}

/// The fields of a line as views into it or into `memory`; nothing where it is no line of CSV.
std::optional<std::vector<std::string_view>> fields_of(std::string_view line, char delimiter, std::string& memory) {
  std::vector<std::string_view> fields;
  const std::string_view whole = without_mark(without_line_end(line));
  const CsvFault fault = split_csv_line(whole, delimiter, std::numeric_limits<std::size_t>::max(), fields, memory);
  return fault == CsvFault::none ? std::optional(fields) : std::nullopt;
}

/// The text in the column, whose place is found in the header of the record's own file.
std::optional<std::string> text_in_csv(const SeenLine& seen, const std::string& column,
                                       const config::InputSettings& settings) {
  std::string memory;
  const auto fields = fields_of(seen.text, settings.delimiter, memory);
  if (!fields) return std::nullopt;
  const std::vector<std::string> names =
      settings.header ? read_header(seen.header, settings.delimiter, seen.file) : settings.columns;
  const auto found = std::find(names.begin(), names.end(), column);
  const auto at = static_cast<std::size_t>(found - names.begin());
  return found != names.end() && at < fields->size() ? std::optional<std::string>((*fields)[at]) : std::nullopt;
}

/// The text of a member. What is no text is shown as the JSON that it is.
std::optional<std::string> text_in_json(const SeenLine& seen, const std::string& column,
                                        const config::InputSettings& settings) {
  simdjson::dom::parser parser;
  simdjson::dom::element record;
  // The parser takes UTF-8 alone, and one byte that is none would hide all members.
  const simdjson::padded_string line(config::bytes_as_characters(seen.text));
  if (parser.parse(line).get(record) != simdjson::SUCCESS) return std::nullopt;
  const std::string pointer = column.starts_with('/') ? column : pointer_to(column);
  // Without an envelope only the first of these is tried. With one, a plain name is a member of its row.
  for (const char* row : {"", "/after", "/payload/after"}) {
    const bool is_tried = *row == '\0' || settings.envelope != config::Envelope::none;
    simdjson::dom::element value;
    if (!is_tried || record.at_pointer(row + pointer).get(value) != simdjson::SUCCESS) continue;
    std::string_view text;
    return config::characters_as_bytes(value.get(text) == simdjson::SUCCESS ? std::string(text)
                                                                            : simdjson::minify(value));
  }
  return std::nullopt;
}

}  // namespace

std::string on_one_line(std::string_view text) {
  std::string out(text.substr(0, shown_bytes_max));
  // 0b10xxxxxx is a byte inside a character of UTF-8.
  while (!out.empty() && text.size() > shown_bytes_max &&
         (static_cast<unsigned char>(text[out.size()]) & 0xc0U) == 0x80U) {
    out.pop_back();  // so that no character is cut in the middle
  }
  out = config::with_all_escaped(out);
  return text.size() > shown_bytes_max ? out + "…" : out;
}

std::map<std::uint64_t, SeenLine> seen_lines(const config::InputSettings& settings,
                                             std::span<const std::uint64_t> ordinals) {
  std::map<std::uint64_t, SeenLine> seen;
  if (ordinals.empty() || !can_be_shown(settings)) return seen;
  config::InputSettings all = settings;
  // pass() hands out records below `from`. Nothing behind the last wanted record is read.
  all.from = ordinals.back() + 1;
  all.to.reset();
  all.time_column.clear();
  // Without a schema no column is bound and no row is made.
  RecordedReader reader(all, record::Schema{});
  reader.open();
  const auto keep = [&](const ReadRecord& record) {
    SeenLine line = reader.place_of(record.position);
    line.text = record.bytes;
    seen.emplace(record.position, std::move(line));
  };
  try {
    while (!reader.pass(ordinals, keep)) {
    }
  } catch (const Failure&) {
    // The input has fewer records than were asked for: those that it has are shown.
    if (seen.empty()) throw;
  }
  return seen;
}

std::optional<std::string> text_in(const SeenLine& seen, const std::string& column,
                                   const config::InputSettings& settings) {
  switch (settings.format) {
    case config::Format::csv:
      return text_in_csv(seen, column, settings);
    case config::Format::json_lines:
      return text_in_json(seen, column, settings);
  }
  __builtin_unreachable();
}

std::optional<std::size_t> column_count(const SeenLine& seen, const config::InputSettings& settings) {
  if (!has_columns(settings)) return std::nullopt;
  if (!settings.header) return settings.columns.size();
  std::string memory;
  const auto names = fields_of(seen.header, settings.delimiter, memory);
  return names ? std::optional(names->size()) : std::nullopt;
}

std::optional<FieldCounts> field_counts(const SeenLine& seen, const config::InputSettings& settings) {
  const std::optional<std::size_t> columns = column_count(seen, settings);
  std::string memory;
  const auto fields = columns ? fields_of(seen.text, settings.delimiter, memory) : std::nullopt;
  return fields ? std::optional(FieldCounts{fields->size(), *columns}) : std::nullopt;
}

}  // namespace nustream::decode
