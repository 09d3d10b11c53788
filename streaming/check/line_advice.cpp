#include "check/line_advice.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>

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

bool is_too_many(const std::string& reason) {
  return reason == decode::description(decode::CsvFault::too_many_fields);
}

/// A command that takes the delimiter away from the ends of lines.
std::string without_last(char delimiter) {
  const bool has_meaning = std::string_view(".*[\\^$/").find(delimiter) != std::string_view::npos;
  return fmt::format(
      "; its lines end in a delimiter more than the header: take it away: sed 's/{}{}\\r*$//' FILE > FILE.csv",
      has_meaning ? "\\" : "", decode::typed_delimiter(delimiter));
}

/// Whether the text is digits with an optional sign: half of a number whose decimal comma divided it.
bool is_whole_number(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// advice_on_fields() of the first record that was refused so; "" where the input cannot be read once more.
std::string advice_on_first(const Refused& refused, const config::InputSettings& input) try {
  const std::array ordinals{refused.first.value()};
  const auto seen = decode::seen_lines(input, ordinals);
  return seen.empty() ? std::string() : advice_on_fields(seen.begin()->second, input);
} catch (const Failure&) {
  return {};  // the file went away
}

}  // namespace

std::string advice_on_fields(const decode::SeenLine& seen, const config::InputSettings& input) {
  const auto counts = decode::field_counts(seen, input);
  if (!counts || counts->fields <= counts->columns) return {};
  const std::string_view line = decode::without_mark(decode::without_line_end(seen.text));
  const bool is_one_more = counts->fields == counts->columns + 1;
  if (is_one_more && line.ends_with(input.delimiter)) return without_last(input.delimiter);
  std::vector<std::string_view> fields;
  std::string unquoted;
  static_cast<void>(decode::split_csv_line(line, input.delimiter, counts->fields, fields, unquoted));
  const bool are_halves = input.delimiter == ',' && counts->fields <= 2 * counts->columns &&
                          std::ranges::count_if(fields, is_whole_number) >= 2;
  std::string advice;
  if (is_one_more) {
    advice =
        "; where R wrote row names in front, which the header does not name: write.csv(…, row.names = FALSE), or "
        "write.table(…, col.names = NA)";
  }
  if (are_halves) {
    advice +=
        "; where some of its commas are decimal ones: write another delimiter between the fields, and read it with "
        "stream.delimiter = \";\" and stream.decimal = \",\"";
  }
  return advice;
}

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
  if (other) return "; " + decode::set_delimiter(*other);
  const std::string advice = is_too_many(reason) ? advice_on_first(tally.reasons.at(reason), input) : std::string();
  return advice.empty() ? "; is stream.delimiter right?" : advice;
}

}  // namespace nustream::check
