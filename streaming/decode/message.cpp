#include "decode/message.h"

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

}  // namespace nustream::decode
