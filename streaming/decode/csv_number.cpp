#include "decode/csv_number.h"

#include <algorithm>
#include <optional>
#include <string>

#include "decode/merged_readings.h"
#include "nustream/record/number.h"
#include "nustream/record/row.h"

namespace nustream::decode {
namespace {

std::optional<double> read_truth(std::string_view text) noexcept {
  constexpr std::string_view spaces = " \t";
  const std::size_t begin = std::min(text.find_first_not_of(spaces), text.size());
  text = text.substr(begin, text.find_last_not_of(spaces) + 1 - begin);
  if (text == "true" || text == "True" || text == "TRUE") return 1;
  if (text == "false" || text == "False" || text == "FALSE") return 0;
  return std::nullopt;
}

std::optional<double> read_with_comma(std::string_view text) {
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
