// parse_number() against the C library's strtod(), which is exact too and shares no code with std::from_chars().
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "nustream/record/number.h"

namespace nustream::record {
namespace {

void expect_like_strtod(const std::string& text) {
  const double expected = std::strtod(text.c_str(), nullptr);
  const auto number = parse_number(text);
  if (std::isinf(expected)) {
    EXPECT_FALSE(number.has_value()) << text;
  } else {
    ASSERT_TRUE(number.has_value()) << text;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(*number), std::bit_cast<std::uint64_t>(expected)) << text;
  }
}

TEST(ParseNumberProperty, ReadsBackWhatPrintfPrints) {
  std::mt19937_64 random(20240601);
  const char* const formats[] = {"%.17g", "%.6g", "%.3f", "%.15e", "%.20f", "%g"};
  char text[400];
  for (int i = 0; i < 60'000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value) || (value != 0 && std::abs(value) < 1e-300) || std::abs(value) > 1e60) continue;
    std::snprintf(text, sizeof text, formats[static_cast<std::size_t>(i) % std::size(formats)], value);
    expect_like_strtod(text);
  }
}

TEST(ParseNumberProperty, RandomDigitsDotsAndExponents) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 100'000; ++i) {
    std::string text = random() % 2 == 0 ? "-" : "";
    const std::size_t digits = 1 + random() % 25;
    const std::size_t dot = random() % (2 * digits);
    for (std::size_t d = 0; d < digits; ++d) {
      if (d == dot) text += '.';
      text += static_cast<char>('0' + random() % 10);
    }
    if (random() % 3 == 0) {
      text += 'e';
      text += std::to_string(static_cast<int>(random() % 600) - 280);
    }
    expect_like_strtod(text);
  }
}

}  // namespace
}  // namespace nustream::record
