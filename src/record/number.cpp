#include "nustream/record/number.h"

#include <charconv>
#include <cmath>
#include <cstdint>

#include "nustream/record/decimal.h"

namespace nustream::record {
namespace {

constexpr int digits_that_fit = 19;  // 10^19 − 1 < 2^64

bool is_digit(char c) {
  return static_cast<unsigned char>(c - '0') < 10;
}
bool is_space(char c) {
  return c == ' ' || c == '\t';
}

// A number taken apart: ±digits × 10^exponent, where `digits` holds all of it.
struct Decimal {
  std::uint64_t digits = 0;
  int significant = 0;  // digits from the first that is not 0
  int exponent = 0;
  bool any = false;
};

void append_digit(Decimal& decimal, char c) {
  decimal.any = true;
  const auto digit = static_cast<std::uint64_t>(c - '0');
  if (decimal.significant == 0 && digit == 0) return;
  if (decimal.significant < digits_that_fit) decimal.digits = decimal.digits * 10 + digit;
  ++decimal.significant;
}

// Reads digits and dot from `at` on; returns the first character that is neither.
const char* read_mantissa(const char* at, const char* end, Decimal& decimal) {
  for (; at != end && is_digit(*at); ++at) append_digit(decimal, *at);
  if (at == end || *at != '.') return at;
  ++at;
  for (; at != end && is_digit(*at); ++at) {
    append_digit(decimal, *at);
    --decimal.exponent;
  }
  return at;
}

// Reads an exponent's digits; false where there are none. Saturates far outside of any double's range.
bool read_exponent(const char*& at, const char* end, int& exponent) {
  constexpr int saturated = 1'000'000;
  const bool negative = at != end && *at == '-';
  if (at != end && (*at == '-' || *at == '+')) ++at;
  if (at == end || !is_digit(*at)) return false;
  int value = 0;
  for (; at != end && is_digit(*at); ++at) {
    if (value < saturated) value = value * 10 + (*at - '0');
  }
  exponent += negative ? -value : value;
  return true;
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
  if (negative || text.front() == '+') text.remove_prefix(1);

  const char* const begin = text.data();
  const char* const end = begin + text.size();
  Decimal decimal;
  const char* at = read_mantissa(begin, end, decimal);
  if (!decimal.any) return std::nullopt;
  if (at != end && (*at == 'e' || *at == 'E')) {
    ++at;
    if (!read_exponent(at, end, decimal.exponent)) return std::nullopt;
  }
  if (at != end) return std::nullopt;

  double value = no_exact_decimal;
  if (decimal.significant <= digits_that_fit) value = decimal_to_double(decimal.digits, decimal.exponent);
  if (std::isnan(value)) {
    const auto result = std::from_chars(begin, end, value);
    if (result.ec != std::errc{} || result.ptr != end) return std::nullopt;
  }
  return negative ? -value : value;
}

}  // namespace nustream::record
