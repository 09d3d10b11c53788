#include "nustream/record/number.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <string>

namespace nustream::record {
namespace {

TEST(ParseNumber, ReadsDecimalNumbers) {
  const std::pair<const char*, double> cases[] = {
      {"0", 0},       {"7", 7},         {"-7", -7},
      {"+7", 7},      {"1.5", 1.5},     {"-.5", -.5},
      {"5.", 5},      {"007", 7},       {"1e3", 1000},
      {"1E+3", 1000}, {"25e-1", 2.5},   {" 1.5\t", 1.5},
      {"0e999", 0},   {"1e308", 1e308}, {"5e-324", 5e-324},
      {"0.1", 0.1},   {"-1e-5", -1e-5}, {"9007199254740993", 9007199254740992},
  };
  for (const auto& [text, value] : cases) {
    const auto number = parse_number(text);
    ASSERT_TRUE(number.has_value()) << text;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(*number), std::bit_cast<std::uint64_t>(value)) << text;
  }
}

TEST(ParseNumber, KeepsTheSignOfZero) {
  EXPECT_EQ(std::bit_cast<std::uint64_t>(parse_number("-0.0").value()), std::uint64_t{1} << 63);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(parse_number("+0").value()), 0U);
}

// Each of these makes one bad record, and never more. A lenient reading would put a wrong number into a gradient.
TEST(ParseNumber, RefusesEverythingElse) {
  const std::string_view cases[] = {
      "",
      " ",
      ".",
      "-",
      "+",
      "-.",
      "e5",
      "1e",
      "1e+",
      "1e999",
      "-1e999",
      "1e-999",
      "nan",
      "NaN",
      "-nan",
      "inf",
      "-inf",
      "Infinity",
      "0x10",
      "0x1p3",
      "1,5",
      "1 5",
      "1.2.3",
      "--5",
      "+-5",
      "-+5",
      "1_000",
      "1'000",
      "5%",
      "$5",
      "1.5f",
      "1d5",
      "１",
      "\xc2\xa0"
      "5",
      "5\n",
      "1e5.5",
      "true",
  };
  for (const std::string_view text : cases) EXPECT_FALSE(parse_number(text).has_value()) << text;
  EXPECT_FALSE(parse_number(std::string_view("5\0", 2)).has_value());
}

}  // namespace
}  // namespace nustream::record
