// Bytes as hexadecimal digits and back.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace nustream::secrets {

/// The bytes as lower-case digits, two for each byte.
[[nodiscard]] inline std::string to_hex(std::span<const std::uint8_t> bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

/// Fills `out` from `text`. Returns false where `text` is not exactly twice as many lower-case digits.
[[nodiscard]] inline bool from_hex(std::string_view text, std::span<std::uint8_t> out) {
  if (text.size() != 2 * out.size()) return false;
  static constexpr std::string_view digits = "0123456789abcdef";
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto high = digits.find(text[2 * i]);
    const auto low = digits.find(text[2 * i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return false;
    out[i] = static_cast<std::uint8_t>((high << 4) | low);
  }
  return true;
}

}  // namespace nustream::secrets
