#include "config/unicode.h"

#include <utf8proc.h>

#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

namespace nustream::config {
namespace {

constexpr char32_t beyond_unicode = 0x110000;

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

std::string not_utf8(std::string_view what) {
  return std::string(what) +
         " not UTF-8: iconv -f WINDOWS-1252 -t UTF-8 FILE > FILE.utf8 (or -f with the encoding that it has)";
}

}  // namespace nustream::config
