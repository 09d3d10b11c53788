#include "decode/read_record.h"

#include "secrets/fields.h"

namespace nustream::decode {
namespace {

void append_optional(const std::optional<std::string_view>& bytes, std::string& out) {
  secrets::append_integer(static_cast<std::uint8_t>(bytes ? 1 : 0), out);
  if (!bytes) return;
  secrets::append_integer(static_cast<std::uint64_t>(bytes->size()), out);
  out += *bytes;
}

}  // namespace

std::string bytes_of(const Message& message) {
  std::string bytes;
  secrets::append_integer(static_cast<std::uint64_t>(message.milliseconds), bytes);
  append_optional(message.key, bytes);
  append_optional(message.value, bytes);
  return bytes;
}

}  // namespace nustream::decode
