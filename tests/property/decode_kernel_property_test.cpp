// Every kernel that this machine can run is held against the portable one, and the portable one against the standard
// library.
#include "decode/csv_kernel.h"

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "decode/decimal.h"

namespace nustream::decode {
namespace {

constexpr std::size_t slack = 128;

// A text with padding behind it that kernels may read: the bytes that lie there must not matter.
class Padded {
 public:
  Padded(const std::string& text, char filler)
      : bytes_(std::string(slack, filler) + text + std::string(slack, filler)), size_(text.size()) {}
  [[nodiscard]] std::string_view text() const { return std::string_view(bytes_).substr(slack, size_); }

 private:
  std::string bytes_;
  std::size_t size_;
};

std::vector<std::uint32_t> head(const CsvIndex::Positions& positions, std::size_t count) {
  return {positions.begin(), positions.begin() + static_cast<std::ptrdiff_t>(count)};
}

// Compares the index up to the last whole row only: behind it kernels may differ.
void expect_same_index(const CsvKernel& kernel, std::string_view segment, char delimiter) {
  const auto expected = std::make_unique<CsvIndex>();
  const auto actual = std::make_unique<CsvIndex>();
  csv_kernels().front().index(segment, delimiter, *expected);
  kernel.index(segment, delimiter, *actual);
  ASSERT_EQ(actual->row_count, expected->row_count) << kernel.name;
  ASSERT_EQ(actual->oddity_count, expected->oddity_count) << kernel.name;
  const std::size_t rows = expected->row_count;
  EXPECT_EQ(head(actual->row_ends, rows), head(expected->row_ends, rows)) << kernel.name;
  EXPECT_EQ(head(actual->oddities, actual->oddity_count), head(expected->oddities, expected->oddity_count));
  const std::size_t separators = rows == 0 ? 1 : expected->row_ends[rows - 1] + 1;
  EXPECT_EQ(head(actual->separators, separators), head(expected->separators, separators)) << kernel.name;
}

TEST(CsvKernelProperty, AllKernelsFindTheSameFields) {
  std::mt19937_64 random(11);
  const std::string alphabets[] = {"0123456789.-,\n", ",\n\r\"", "a,\r\n", {"\0x,\n\xff\x80", 6}, ",", "\n", "x"};
  for (int i = 0; i < 4000; ++i) {
    const std::string& alphabet = alphabets[random() % std::size(alphabets)];
    const std::size_t longest = i % 20 == 0 ? segment_bytes_max : 400;
    std::string text(random() % (longest + 1), ' ');
    for (char& c : text) c = alphabet[random() % alphabet.size()];
    const Padded padded(text, "\n,\"\r5"[random() % 5]);
    for (const CsvKernel& kernel : csv_kernels())
      expect_same_index(kernel, padded.text(), random() % 8 == 0 ? ';' : ',');
  }
}

// The numbers of one-column text, one a line, as a kernel reads them.
std::vector<double> read_column(const CsvKernel& kernel, const std::vector<std::string>& fields, char filler) {
  std::vector<double> numbers;
  const auto index = std::make_unique<CsvIndex>();
  for (std::size_t done = 0; done < fields.size();) {
    std::string text;
    std::size_t lines = 0;
    while (done < fields.size() && text.size() + fields[done].size() + 1 <= segment_bytes_max) {
      text += fields[done++] + "\n";
      ++lines;
    }
    const Padded padded(text, filler);
    kernel.index(padded.text(), ',', *index);
    const std::vector<std::uint32_t> columns(number_group, 0);
    std::vector<std::uint32_t> rows;
    for (std::uint32_t r = 0; r < index->row_count; ++r) rows.push_back(r + 1);
    EXPECT_EQ(rows.size(), lines);
    std::vector<double> out(rows.size() * number_group);
    kernel.read_numbers(padded.text().data(), *index, rows, columns, out.data());
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (std::size_t i = 1; i < number_group; ++i) {
        EXPECT_EQ(std::bit_cast<std::uint64_t>(out[number_group * r]),
                  std::bit_cast<std::uint64_t>(out[number_group * r + i]));
      }
      numbers.push_back(out[number_group * r]);
    }
  }
  return numbers;
}

// The number that std::from_chars reads from a field without spaces around it.
double expected_number(const std::string& field) {
  const std::size_t sign = field.starts_with('-') || field.starts_with('+') ? 1 : 0;
  const char* const begin = field.data() + sign;
  const char* const end = field.data() + field.size();
  double value = std::numeric_limits<double>::quiet_NaN();
  if (begin == end || std::isalpha(static_cast<unsigned char>(*begin)) != 0 || *begin == '-') return value;
  const auto result = std::from_chars(begin, end, value);
  if (result.ec != std::errc{} || result.ptr != end) return std::numeric_limits<double>::quiet_NaN();
  return field.starts_with('-') ? -value : value;
}

void expect_like_from_chars(const std::vector<std::string>& fields) {
  for (const CsvKernel& kernel : csv_kernels()) {
    for (const char filler : {'7', '-', '.'}) {
      const std::vector<double> numbers = read_column(kernel, fields, filler);
      ASSERT_EQ(numbers.size(), fields.size());
      for (std::size_t i = 0; i < fields.size(); ++i) {
        const double expected = expected_number(fields[i]);
        if (std::isnan(expected)) {
          ASSERT_TRUE(std::isnan(numbers[i])) << kernel.name << " " << fields[i];
        } else {
          ASSERT_EQ(std::bit_cast<std::uint64_t>(numbers[i]), std::bit_cast<std::uint64_t>(expected))
              << kernel.name << " " << fields[i];
        }
      }
    }
  }
}

TEST(CsvKernelProperty, RandomDecimalsOfEveryLength) {
  std::mt19937_64 random(12);
  std::vector<std::string> fields;
  for (int i = 0; i < 100'000; ++i) {
    std::string field = random() % 2 == 0 ? "-" : "";
    const std::size_t digits = 1 + random() % 36;
    const std::size_t dot = random() % (digits + 3);
    const std::size_t zeros = random() % 3 == 0 ? random() % (digits + 1) : 0;
    for (std::size_t d = 0; d < digits; ++d) {
      if (d == dot) field += '.';
      field += d < zeros ? '0' : static_cast<char>('0' + random() % 10);
    }
    if (dot == digits) field += '.';
    fields.push_back(field);
  }
  expect_like_from_chars(fields);
}

TEST(CsvKernelProperty, DoublesAsPeoplePrintThem) {
  std::mt19937_64 random(13);
  std::normal_distribution<double> normal;
  const char* const formats[] = {"%.17g", "%.6g", "%.16g", "%.2f", "%.15f", "%.17e", "%.0f", "%.25f"};
  std::vector<std::string> fields;
  char text[400];
  for (int i = 0; i < 100'000; ++i) {
    const double value = normal(random) * std::pow(10.0, static_cast<double>(random() % 24) - 8);
    std::snprintf(text, sizeof text, formats[static_cast<std::size_t>(i) % std::size(formats)], value);
    fields.emplace_back(text);
  }
  expect_like_from_chars(fields);
}

// Fields halfway between two neighbouring doubles, and right next to halfway: there a conversion that is not exact
// shows.
TEST(CsvKernelProperty, HalfwayCases) {
  std::mt19937_64 random(14);
  std::vector<std::string> fields;
  for (int i = 0; i < 30'000; ++i) {
    // An odd 54-bit integer is a tie between two doubles; so is one divided by a power of two.
    const std::uint64_t tie = (std::uint64_t{1} << 53) | (random() >> 11) | 1;
    const int bits = static_cast<int>(random() % 6);
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", bits, std::ldexp(static_cast<double>(tie >> 10), -bits));
    fields.emplace_back(text);
    fields.push_back(std::to_string(tie));
    fields.push_back(std::to_string(tie * 2 + random() % 3 - 1));
    fields.push_back(std::to_string(tie / 1000) + "." + std::to_string(1000 + tie % 1000).substr(1));
  }
  expect_like_from_chars(fields);
}

TEST(CsvKernelProperty, FieldsThatAreNoPlainNumbers) {
  std::mt19937_64 random(15);
  std::vector<std::string> fields = {"",
                                     "-",
                                     ".",
                                     "-.",
                                     "+",
                                     "--1",
                                     "-+1",
                                     "1-",
                                     "1.2.3",
                                     "..",
                                     "1.",
                                     ".1",
                                     "-.1",
                                     "-1.",
                                     "1e5",
                                     "1e999",
                                     "nan",
                                     "inf",
                                     "-inf",
                                     "0x10",
                                     "1/",
                                     "1:",
                                     "/1",
                                     ":1",
                                     "1 2",
                                     "-0",
                                     "-0.0",
                                     "0.000",
                                     "00012",
                                     "9007199254740993",
                                     "9007199254740992",
                                     "9999999999999999",
                                     "99999999999999999999",
                                     "18446744073709551615",
                                     "18446744073709551616",
                                     "0.00000000000000000000000000001",
                                     "1e-5",
                                     "+5",
                                     "\x80\x80",
                                     "1\xff"};
  const std::string alphabet = "0123456789.-+e/: x\x7f\x80\xff";
  for (int i = 0; i < 100'000; ++i) {
    std::string field(random() % 24, '0');
    for (char& c : field)
      c = random() % 4 == 0 ? alphabet[random() % alphabet.size()] : static_cast<char>('0' + random() % 10);
    if (field.starts_with(' ') || field.ends_with(' ')) continue;
    fields.push_back(field);
  }
  expect_like_from_chars(fields);
}

// Columns in any order and number, adjacent or not: each lane of a kernel has to read its own field.
TEST(CsvKernelProperty, ColumnsOfTheirOwn) {
  std::mt19937_64 random(16);
  for (int i = 0; i < 500; ++i) {
    const std::uint32_t width = 1 + static_cast<std::uint32_t>(random() % 20);
    std::string text;
    std::uint32_t row_count = 0;
    while (text.size() < 3000) {
      for (std::uint32_t c = 0; c < width; ++c) {
        text += std::to_string(row_count * 100 + c) + (c + 1 < width ? "," : i % 2 == 0 ? "\n" : "\r\n");
      }
      ++row_count;
    }
    std::vector<std::uint32_t> columns(number_group * (1 + random() % 4));
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const bool next = random() % 4 != 0 && j > 0 && columns[j - 1] + 1 < width;
      columns[j] = next ? columns[j - 1] + 1 : static_cast<std::uint32_t>(random() % width);
    }
    const Padded padded(text, '1');
    const auto index = std::make_unique<CsvIndex>();
    for (const CsvKernel& kernel : csv_kernels()) {
      kernel.index(padded.text(), ',', *index);
      std::vector<std::uint32_t> rows{1};
      for (std::size_t r = 0; r + 1 < index->row_count; ++r) rows.push_back(index->row_ends[r] + 1);
      ASSERT_EQ(rows.size(), row_count);
      std::vector<double> numbers(rows.size() * columns.size());
      kernel.read_numbers(padded.text().data(), *index, rows, columns, numbers.data());
      for (std::uint32_t r = 0; r < row_count; ++r) {
        for (std::size_t j = 0; j < columns.size(); ++j) {
          ASSERT_EQ(numbers[r * columns.size() + j], r * 100 + columns[j]) << kernel.name;
        }
      }
    }
  }
}

// Quotients whose remainders lie at either end of their range: there the first estimate of a quotient has to be
// corrected, or must not be.
TEST(DivideProperty, EqualsTheCompilersDivision) {
  std::mt19937_64 random(19);
  for (int i = 0; i < 400'000; ++i) {
    const Divisor& five = powers_of_five[random() % powers_of_five.size()];
    const std::uint64_t quotient = i % 3 == 0 ? ~(random() >> (random() % 64)) : random() >> (random() % 64);
    const std::uint64_t end = std::min(random() >> (random() % 64), five.shifted - 1);
    const std::uint64_t remainder = i % 2 == 0 ? end : five.shifted - 1 - end;
    const Wide numerator = Wide{quotient} * five.shifted + remainder;
    const auto result =
        divide(static_cast<std::uint64_t>(numerator >> 64), static_cast<std::uint64_t>(numerator), five);
    ASSERT_EQ(result.quotient, quotient);
    ASSERT_EQ(result.remainder, remainder);
  }
}

TEST(QuotientByPowerOfTenProperty, EqualsTheStandardLibrary) {
  std::mt19937_64 random(17);
  for (int i = 0; i < 400'000; ++i) {
    const std::uint64_t digits = std::max<std::uint64_t>(random() >> (random() % 64), 1);
    const std::size_t places = random() % (decimal_places_max + 1);
    const std::string text = std::to_string(digits) + "e-" + std::to_string(places);
    double expected = 0;
    std::from_chars(text.data(), text.data() + text.size(), expected);
    ASSERT_EQ(std::bit_cast<std::uint64_t>(quotient_by_power_of_ten(digits, places)),
              std::bit_cast<std::uint64_t>(expected))
        << text;
  }
}

// Ties by construction: an odd 54-bit integer, written as (integer · 5^k · 2^j)/10^k, times a power of two.
TEST(QuotientByPowerOfTenProperty, TiesGoToEven) {
  std::mt19937_64 random(18);
  for (int i = 0; i < 200'000; ++i) {
    const std::size_t places = random() % 5;
    const std::uint64_t five = std::array<std::uint64_t, 5>{1, 5, 25, 125, 625}[places];
    const std::uint64_t digits = ((std::uint64_t{1} << 53) | (random() >> 11) | 1) * five + random() % 3 - 1;
    const std::string text = std::to_string(digits) + "e-" + std::to_string(places);
    double expected = 0;
    std::from_chars(text.data(), text.data() + text.size(), expected);
    ASSERT_EQ(std::bit_cast<std::uint64_t>(quotient_by_power_of_ten(digits, places)),
              std::bit_cast<std::uint64_t>(expected))
        << text;
  }
}

}  // namespace
}  // namespace nustream::decode
