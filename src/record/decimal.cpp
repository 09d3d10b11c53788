#include "nustream/record/decimal.h"

#include <array>
#include <bit>

namespace nustream::record {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr int exponent_largest = 27;  // 5^27 < 2^63 < 5^28
constexpr std::uint64_t clinger_digits_max = std::uint64_t{1} << 53;
constexpr int clinger_exponent_max = 22;

constexpr auto powers_of_five = [] {
  std::array<std::uint64_t, exponent_largest + 1> powers{1};
  for (std::size_t k = 1; k < powers.size(); ++k) powers[k] = powers[k - 1] * 5;
  return powers;
}();

// The double nearest to value × 2^exponent, ties to even; `inexact` says that the true value lies a little above
// `value`, by less than 1. For results in the normal range only, and a value of at least 55 bits where inexact.
double round_to_double(std::uint64_t value, bool inexact, int exponent) {
  const int unused = std::countl_zero(value);
  const std::uint64_t normal = value << unused;
  const std::uint64_t kept = normal >> 11;
  const std::uint64_t cut = normal & 0x7ff;
  const std::uint64_t half = 0x400;
  const bool up = cut > half || (cut == half && (inexact || (kept & 1) != 0));
  // The leading one of `kept` and a carry out of the rounding both go into the exponent by plain addition.
  const auto biased = static_cast<std::uint64_t>(exponent - unused + 63 + 1023 - 1);
  return std::bit_cast<double>((biased << 52) + kept + (up ? 1 : 0));
}

double divide(std::uint64_t digits, std::uint64_t five, int exponent) {
  // digits and five scaled to their top bit: the quotient below has 63 or 64 bits, enough to round from.
  const int digits_shift = std::countl_zero(digits);
  const int five_shift = std::countl_zero(five);
  const Wide numerator = Wide{digits << digits_shift} << 63;
  const std::uint64_t divisor = five << five_shift;
  const auto quotient = static_cast<std::uint64_t>(numerator / divisor);
  const bool inexact = Wide{quotient} * divisor != numerator;
  return round_to_double(quotient, inexact, exponent - 63 - digits_shift + five_shift);
}

double multiply(std::uint64_t digits, std::uint64_t five, int exponent) {
  const Wide product = Wide{digits} * five;
  const auto high = static_cast<std::uint64_t>(product >> 64);
  const auto low = static_cast<std::uint64_t>(product);
  if (high == 0) return round_to_double(low, false, exponent);
  const int shift = std::countl_zero(high);
  const auto top = static_cast<std::uint64_t>((product << shift) >> 64);
  return round_to_double(top, (low << shift) != 0, exponent + 64 - shift);
}

}  // namespace

double decimal_to_double(std::uint64_t digits, int exponent) noexcept {
  if (digits == 0) return 0;
  const int magnitude = exponent < 0 ? -exponent : exponent;
  if (magnitude > exponent_largest) return no_exact_decimal;
  const auto power = static_cast<std::size_t>(magnitude);
  if (digits <= clinger_digits_max && magnitude <= clinger_exponent_max) {
    const auto exact = static_cast<double>(digits);
    return exponent < 0 ? exact / exact_powers_of_ten[power] : exact * exact_powers_of_ten[power];
  }
  const std::uint64_t five = powers_of_five[power];
  return exponent < 0 ? divide(digits, five, exponent) : multiply(digits, five, exponent);
}

}  // namespace nustream::record
