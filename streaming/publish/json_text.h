// Numbers and texts as JSON has them, in bytes that must stay the same for ever. JsonWriter puts them together.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nustream::publish {

using NamedValues = std::vector<std::pair<std::string, double>>;

/// Appends the shortest text that reads back as the same double, or null where JSON has no number for it.
inline void append_number(double value, std::string& out) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char buffer[32];
  out.append(buffer, static_cast<std::size_t>(std::to_chars(buffer, buffer + sizeof buffer, value).ptr - buffer));
}

inline void append_number(std::integral auto value, std::string& out) {
  char buffer[24];
  out.append(buffer, static_cast<std::size_t>(std::to_chars(buffer, buffer + sizeof buffer, value).ptr - buffer));
}

[[nodiscard]] constexpr bool needs_escape(char c) noexcept {
  return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
}

/// Appends the character as it stands within quotation marks. Contract: it needs an escape.
inline void append_escaped(char c, std::string& out) {
  static constexpr char hex[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20) {
    out += '\\';
    out += c;
  } else {
    out += "\\u00";
    out += hex[byte >> 4];
    out += hex[byte & 15];
  }
}

inline void append_string(std::string_view text, std::string& out) {
  out += '"';
  std::size_t plain = 0;  // where the text begins that is not appended yet
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!needs_escape(text[i])) continue;
    out.append(text, plain, i - plain);
    append_escaped(text[i], out);
    plain = i + 1;
  }
  out.append(text, plain);
  out += '"';
}

}  // namespace nustream::publish
