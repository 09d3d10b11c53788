// The definition of what a line of CSV means (RFC 4180, docs/formats/input.md). The kernels read only lines that this
// path would read to the same numbers.
#include "decode/csv_line.h"

#include <algorithm>
#include <optional>
#include <string>

#include "decode/merged_readings.h"
#include "nustream/record/number.h"
#include "nustream/record/row.h"

namespace nustream::decode {
namespace {

constexpr char quote = '"';

// Takes the quoted field that `rest` begins with, without its quotation marks. `rest` then begins after the closing
// mark. `unquoted` must have room for all of the line, so that earlier fields stay where they are.
CsvFault read_quoted(std::string_view& rest, std::string& unquoted, std::string_view& field) {
  rest.remove_prefix(1);
  const std::size_t start = unquoted.size();
  while (true) {
    const std::size_t close = rest.find(quote);
    if (close == std::string_view::npos) return CsvFault::open_quote;
    const bool doubled = close + 1 < rest.size() && rest[close + 1] == quote;
    // The common field has no doubled mark and stays a view into the line. Otherwise its parts are put together.
    if (!doubled && unquoted.size() == start) {
      field = rest.substr(0, close);
    } else {
      unquoted.append(rest.substr(0, close + (doubled ? 1 : 0)));
      field = std::string_view(unquoted).substr(start);
    }
    rest.remove_prefix(close + (doubled ? 2 : 1));
    if (!doubled) return CsvFault::none;
  }
}

}  // namespace

const char* description(CsvFault fault) noexcept {
  switch (fault) {
    case CsvFault::none:
      return "no fault";
    case CsvFault::empty:
      return "the line is empty";
    case CsvFault::binary:
      return "the line holds a NUL byte";
    case CsvFault::open_quote:
      return "a quotation mark is never closed";
    case CsvFault::after_quote:
      return "text follows a closing quotation mark";
    case CsvFault::too_many_fields:
      return "more fields than columns";
  }
  return "no fault";
}

std::string_view without_line_end(std::string_view line) noexcept {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view without_mark(std::string_view text) noexcept {
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  return text;
}

CsvFault split_csv_line(std::string_view line, char delimiter, std::size_t fields_max,
                        std::vector<std::string_view>& fields, std::string& unquoted) {
  fields.clear();
  unquoted.clear();
  // So that no append moves the text to which earlier fields point.
  unquoted.reserve(line.size());
  if (line.empty()) return CsvFault::empty;
  if (line.find('\0') != std::string_view::npos) return CsvFault::binary;
  for (std::string_view rest = line;;) {
    // Asked before the field is read, so that a line of exactly `fields_max` fields is no fault.
    if (fields.size() == fields_max) return CsvFault::too_many_fields;
    std::string_view field;
    if (rest.starts_with(quote)) {
      const CsvFault fault = read_quoted(rest, unquoted, field);
      if (fault != CsvFault::none) return fault;
      // For example "ab"c: it cannot be told whether the c belongs to the field.
      if (!rest.empty() && rest.front() != delimiter) return CsvFault::after_quote;
    } else {
      field = rest.substr(0, rest.find(delimiter));
      rest.remove_prefix(field.size());
    }
    fields.push_back(field);
    // A delimiter follows otherwise. If it is the last character, one more field follows, which is empty.
    if (rest.empty()) return CsvFault::none;
    rest.remove_prefix(1);
  }
}

namespace {

constexpr const char* open_quote =
    "a quotation mark is not closed before the next delimiter, as it must be where the target alone is private";

// What is wrong with a field on its own; null where nothing is.
const char* fault_in(std::string_view field, char delimiter, std::vector<std::string_view>& split,
                     std::string& unquoted) {
  if (field.find('\0') != std::string_view::npos) return description(CsvFault::binary);
  if (!field.starts_with('"')) return nullptr;
  const CsvFault fault = split_csv_line(field, delimiter, 1, split, unquoted);
  if (fault == CsvFault::none) return nullptr;
  return fault == CsvFault::open_quote ? open_quote : description(fault);
}

}  // namespace

const char* split_leading_fields(std::string_view line, char delimiter, std::size_t count, LeadingFields& found) {
  found.fields.clear();
  // Until the first delimiter is found, all of the line is the rest.
  found.rest = line;
  while (found.fields.size() < count) {
    if (!found.rest) return too_few_fields;
    const std::string_view rest = *found.rest;
    const std::size_t end = rest.find(delimiter);
    found.fields.push_back(rest.substr(0, end));
    found.rest = end == std::string_view::npos ? std::nullopt : std::optional(rest.substr(end + 1));
  }
  // The fields are judged one by one after the line was divided, so that a fault in one of them cannot change
  // where another one ends.
  std::vector<std::string_view> split;
  std::string unquoted;
  for (const std::string_view field : found.fields) {
    if (const char* const fault = fault_in(field, delimiter, split, unquoted)) return fault;
  }
  return nullptr;
}

namespace {

// 1 or 0 for the words that common programs write for true and false.
std::optional<double> read_truth(std::string_view text) noexcept {
  constexpr std::string_view spaces = " \t";
  const std::size_t begin = std::min(text.find_first_not_of(spaces), text.size());
  text = text.substr(begin, text.find_last_not_of(spaces) + 1 - begin);
  if (text == "true" || text == "True" || text == "TRUE") return 1;
  if (text == "false" || text == "False" || text == "FALSE") return 0;
  return std::nullopt;
}

// The number with a comma in the place of the dot.
std::optional<double> read_with_comma(std::string_view text) {
  // "1.234" may be one thousand or one and a bit, so that it is no number.
  if (text.find('.') != std::string_view::npos) return std::nullopt;
  std::string with_dot(text);
  std::replace(with_dot.begin(), with_dot.end(), ',', '.');
  return record::parse_number(with_dot);
}

}  // namespace

double read_csv_number(std::string_view text, char decimal) {
  const auto number = decimal == ',' ? read_with_comma(text) : record::parse_number(text);
  if (number) return *number;
  return read_truth(text).value_or(record::unreadable_text(text));
}

}  // namespace nustream::decode
