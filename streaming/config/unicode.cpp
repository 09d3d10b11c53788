#include "config/unicode.h"

#include <utf8proc.h>

#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

namespace nustream::config {
namespace {

constexpr char32_t beyond_unicode = 0x110000;
constexpr char32_t first_stand_in = 0x10ff00;  // as UTF-8 it is f4 8f bc 80

/// Hands each character to `take`, with its bytes.
template <class Take>
void for_each_character(std::string_view text, const Take& take) {
  while (!text.empty()) {
    utf8proc_int32_t code = 0;
    const auto* const bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
    const utf8proc_ssize_t read = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &code);
    const bool is_one = read > 0;
    const std::size_t count = is_one ? static_cast<std::size_t>(read) : 1;
    take(is_one ? static_cast<char32_t>(code) : beyond_unicode + bytes[0], text.substr(0, count));
    text.remove_prefix(count);
  }
}

}  // namespace

std::u32string characters(std::string_view text) {
  std::u32string found;
  found.reserve(text.size());
  for_each_character(text, [&](char32_t code, std::string_view) { found += code; });
  return found;
}

bool is_utf8(std::string_view text) {
  bool all = true;
  for_each_character(text, [&](char32_t code, std::string_view) { all &= code < beyond_unicode; });
  return all;
}

std::string with_bytes_escaped(std::string_view text) {
  std::string shown;
  for_each_character(text, [&](char32_t code, std::string_view bytes) {
    shown += code < beyond_unicode ? std::string(bytes)
                                   : fmt::format("\\x{:02x}", std::uint32_t{code} - std::uint32_t{beyond_unicode});
  });
  return shown;
}

std::string with_all_escaped(std::string_view text) {
  constexpr std::string_view named = "\t\n\v\f\r";
  constexpr std::string_view names = "tnvfr";
  std::string shown;
  for (const char c : with_bytes_escaped(text)) {
    const auto byte = static_cast<unsigned char>(c);
    const std::size_t at = named.find(c);
    if (at != std::string_view::npos) {
      shown += {'\\', names[at]};
    } else if (byte < 0x20 || byte == 0x7f) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += c;
    }
  }
  return shown;
}

std::string bytes_as_characters(std::string_view text) {
  std::string out;
  for_each_character(text, [&](char32_t code, std::string_view bytes) {
    if (code < beyond_unicode) {
      out += bytes;
      return;
    }
    const auto byte = static_cast<unsigned>(code - beyond_unicode);
    out += {'\xf4', '\x8f', static_cast<char>(0xbcU + (byte >> 6U)), static_cast<char>(0x80U + (byte & 0x3fU))};
  });
  return out;
}

std::string characters_as_bytes(std::string_view text) {
  std::string out;
  for_each_character(text, [&](char32_t code, std::string_view bytes) {
    if (code >= first_stand_in && code < first_stand_in + 0x100) {
      out += static_cast<char>(static_cast<unsigned char>(code - first_stand_in));
    } else {
      out += bytes;
    }
  });
  return out;
}

std::string not_utf8(std::string_view what) {
  return std::string(what) +
         " not UTF-8: iconv -f WINDOWS-1252 -t UTF-8 FILE > FILE.utf8 (or -f with the encoding that it has)";
}

}  // namespace nustream::config
