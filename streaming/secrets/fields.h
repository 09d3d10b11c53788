// Little-endian fields of the durable formats: they are written to a string, and read back with every length checked.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "error.h"

namespace nustream::secrets {

template <class Unsigned>
void append_integer(Unsigned value, std::string& out) {
  for (std::size_t byte = 0; byte < sizeof value; ++byte) out += static_cast<char>((value >> (8 * byte)) & 0xff);
}

inline void append_double(double value, std::string& out) {
  append_integer(std::bit_cast<std::uint64_t>(value), out);
}

inline void append_bytes(std::span<const std::uint8_t> bytes, std::string& out) {
  out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

/// Appends the length as a u32 and then the bytes. Throws Failure(internal) for 4 GiB or more.
inline void append_text(std::string_view text, std::string& out) {
  if (text.size() > UINT32_MAX)
    throw Failure(Exit::internal, "a field of 4 GiB does not fit a state; commit more often");
  append_integer(static_cast<std::uint32_t>(text.size()), out);
  out += text;
}

/// Takes fields from the front of a text. Every read throws Failure(data), with the message that the constructor was
/// given, where too few bytes are left.
class FieldReader {
 public:
  FieldReader(std::string_view text, std::string too_short) : rest_(text), too_short_(std::move(too_short)) {}

  [[nodiscard]] std::string_view bytes(std::size_t count) {
    if (rest_.size() < count) throw Failure(Exit::data, too_short_);
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  template <class Unsigned>
  [[nodiscard]] Unsigned integer() {
    const std::string_view taken = bytes(sizeof(Unsigned));
    Unsigned value = 0;
    for (std::size_t byte = sizeof value; byte-- > 0;) {
      value = static_cast<Unsigned>((value << 8) | static_cast<unsigned char>(taken[byte]));
    }
    return value;
  }
  [[nodiscard]] double number() { return std::bit_cast<double>(integer<std::uint64_t>()); }
  [[nodiscard]] std::string_view text() { return bytes(integer<std::uint32_t>()); }
  void bytes(std::span<std::uint8_t> out) {
    const std::string_view taken = bytes(out.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint8_t>(taken[i]);
  }
  [[nodiscard]] std::string_view rest() const noexcept { return rest_; }

 private:
  std::string_view rest_;
  std::string too_short_;
};

}  // namespace nustream::secrets
