#include "decode/utf8.h"

#include <cstddef>

namespace nustream::decode {
namespace {

constexpr char stand_in = '\x7f';

/// Which values the second byte may have, and how many bytes the character has: RFC 3629, section 4.
struct Form {
  unsigned from, to;
  std::size_t bytes;
};

/// The form that a first byte of 0x80 or above begins; it has 0 bytes where that begins none.
Form form_of(unsigned first) {
  if (first >= 0xc2 && first <= 0xdf) return {0x80, 0xbf, 2};
  if (first == 0xe0) return {0xa0, 0xbf, 3};
  if (first == 0xed) return {0x80, 0x9f, 3};
  if (first >= 0xe1 && first <= 0xef) return {0x80, 0xbf, 3};
  if (first == 0xf0) return {0x90, 0xbf, 4};
  if (first >= 0xf1 && first <= 0xf3) return {0x80, 0xbf, 4};
  if (first == 0xf4) return {0x80, 0x8f, 4};
  return {1, 0, 0};
}

/// How many bytes the character has that `text`, which is not empty, begins with; 0 where it begins with none.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[i])); };
  if (byte(0) < 0x80) return 1;
  const Form form = form_of(byte(0));
  if (form.bytes == 0 || text.size() < form.bytes || byte(1) < form.from || byte(1) > form.to) return 0;
  for (std::size_t i = 2; i < form.bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
  }
  return form.bytes;
}

}  // namespace

void copy_as_utf8(std::string_view text, std::string& out) {
  out.assign(text);
  for (std::size_t at = 0; at < out.size();) {
    const std::size_t bytes = character_bytes(std::string_view(out).substr(at));
    if (bytes == 0) out[at] = stand_in;
    at += bytes == 0 ? 1 : bytes;
  }
}

}  // namespace nustream::decode
