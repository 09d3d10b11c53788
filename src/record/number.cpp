// Reads a number by std::from_chars, which knows no locale: "1,5" is no number anywhere. Spaces, a plus sign and what
// from_chars would read besides numbers are handled here.
#include "nustream/record/number.h"

#include <charconv>

namespace nustream::record {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t';
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

std::optional<double> parse_number(std::string_view text) noexcept {
  text = trim(text);
  if (text.empty()) return std::nullopt;
  const bool negative = text.front() == '-';
  // from_chars takes no plus sign, so the sign is read here.
  if (negative || text.front() == '+') text.remove_prefix(1);
  // from_chars would also read a second minus, nan and inf.
  const char first = text.empty() ? '\0' : text.front();
  if (first != '.' && (first < '0' || first > '9')) return std::nullopt;
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc{} || result.ptr != end) return std::nullopt;
  return negative ? -value : value;
}

}  // namespace nustream::record
