// Lists of headers of a batch, and the bytes by which a message is recognised again.
#include "decode/message.h"

#include "secrets/fields.h"

namespace nustream::decode {

std::span<const Message> MessageBatch::messages() {
  // The spans are made now, because the list of headers may have moved while it grew.
  std::size_t begin = 0;
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    messages_[i].headers = std::span<const MessageHeader>(headers_).subspan(begin, header_ends_[i] - begin);
    begin = header_ends_[i];
  }
  return messages_;
}

namespace {

/// A byte that says whether there is a value, then its length and its bytes. So null and empty differ, and no two
/// pairs of key and value have the same bytes.
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
