#include "check/line_advice.h"

#include <optional>

#include "decode/byte_source.h"
#include "decode/csv_line.h"
#include "decode/delimiters.h"
#include "decode/segment_rows.h"
#include "error.h"

namespace nustream::check {
namespace {

constexpr const char* trusted = "; where quoted texts hold line breaks, set stream.framing = \"trusted\"";

bool is_open_quote(const std::string& reason) {
  return reason == decode::description(decode::CsvFault::open_quote);
}

/// Whether the reason is one that every line has where another character divides the fields.
bool is_of_delimiter(const std::string& reason) {
  return reason == decode::description(decode::CsvFault::after_quote) || reason == decode::too_few_fields ||
         reason == decode::description(decode::CsvFault::too_many_fields);
}

/// A segment's records end where their lengths say.
bool are_lines(const config::InputSettings& input) try {
  if (!has_columns(input) || input.files.empty()) return false;
  const std::string& file = input.files.front();
  return decode::is_standard_input(file) || !decode::is_segment(file);
} catch (const Failure&) {
  return false;  // the file went away
}

}  // namespace

std::string advice_on_line(const std::string& reason, const decode::SeenLine& seen,
                           const config::InputSettings& input) {
  if (is_open_quote(reason)) return input.framing_is_trusted ? "" : trusted;
  const std::optional<std::size_t> columns = decode::column_count(seen, input);
  if (!is_of_delimiter(reason) || !columns) return {};
  const std::string_view line = decode::without_mark(decode::without_line_end(seen.text));
  const std::optional<char> other = decode::other_delimiter(line, input.delimiter, *columns);
  return other ? "; " + decode::set_delimiter(*other) : std::string();
}

std::string advice_on_lines(const Tally& tally, const config::InputSettings& input) {
  const std::string reason = tally.most_frequent_reason();
  if (is_open_quote(reason)) return input.framing_is_trusted || !are_lines(input) ? "" : trusted;
  if (tally.rejected < tally.records || !is_of_delimiter(reason)) return {};
  const std::optional<char> other = decode::other_delimiter_of_records(input);
  return other ? "; " + decode::set_delimiter(*other) : "; is stream.delimiter right?";
}

}  // namespace nustream::check
