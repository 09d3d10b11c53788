// Writes JSON by hand where the bytes must stay the same for ever: shortest round-trip numbers, escaped strings.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace nustream::publish {

/// Appends the shortest text that reads back as the same double, or null where JSON has no number for it.
inline void append_number(double value, std::string& out) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out.append(buffer, end);
}

inline void append_number(std::uint64_t value, std::string& out) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

inline void append_string(std::string_view text, std::string& out) {
  static constexpr char hex[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += "\\u00";
      out += hex[byte >> 4];
      out += hex[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

/// Appends ,"KEY":NUMBER.
template <class Number>
  requires std::is_arithmetic_v<Number>
void append_field(std::string_view key, Number number, std::string& out) {
  out += ",\"" + std::string(key) + "\":";
  append_number(number, out);
}
/// Appends ,"KEY":"TEXT".
inline void append_field(std::string_view key, std::string_view text, std::string& out) {
  out += ",\"" + std::string(key) + "\":";
  append_string(text, out);
}

using NamedValues = std::vector<std::pair<std::string, double>>;

/// Appends ,"KEY":{"NAME":N,…}.
inline void append_object(std::string_view key, const NamedValues& values, std::string& out) {
  out += ",\"" + std::string(key) + "\":{";
  for (std::size_t j = 0; j < values.size(); ++j) {
    if (j > 0) out += ',';
    append_string(values[j].first, out);
    out += ':';
    append_number(values[j].second, out);
  }
  out += '}';
}

/// Appends the same, or null where there are no values.
inline void append_values(std::string_view key, const NamedValues& values, std::string& out) {
  if (!values.empty()) return append_object(key, values, out);
  out += ",\"" + std::string(key) + "\":null";
}

}  // namespace nustream::publish
