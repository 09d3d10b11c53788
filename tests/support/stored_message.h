// Messages that own their bytes, for tests of what reads and records them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "decode/message.h"

namespace nustream::tests {

struct StoredMessage {
  std::uint64_t offset = 0;
  std::optional<std::string> key{};
  std::optional<std::string> value{};
  std::vector<std::pair<std::string, std::optional<std::string>>> headers{};
  std::int64_t milliseconds = 0;
  decode::TimeKind time_kind = decode::TimeKind::none;

  friend bool operator==(const StoredMessage&, const StoredMessage&) = default;
};

/// Messages with values only, from the given offset on.
inline std::vector<StoredMessage> values_from(std::uint64_t offset, const std::vector<std::string>& values) {
  std::vector<StoredMessage> messages;
  for (const std::string& value : values) messages.push_back({.offset = offset++, .value = value});
  return messages;
}

/// Views of `stored`, as a consumer or a recording hands them out.
inline decode::MessageBatch views(const std::vector<StoredMessage>& stored) {
  decode::MessageBatch batch;
  for (const StoredMessage& message : stored) {
    batch.add({message.offset, message.milliseconds, message.time_kind, message.key, message.value, {}});
    for (const auto& [name, value] : message.headers) batch.add_header({name, value});
  }
  return batch;
}

decode::MessageBatch views(std::vector<StoredMessage>&&) = delete;

/// A copy of the message with memory of its own.
inline StoredMessage stored(const decode::Message& message) {
  StoredMessage copy{message.offset, std::nullopt, std::nullopt, {}, message.milliseconds, message.time_kind};
  if (message.key) copy.key = *message.key;
  if (message.value) copy.value = *message.value;
  for (const decode::MessageHeader& header : message.headers) {
    copy.headers.emplace_back(header.name, header.value);
  }
  return copy;
}

}  // namespace nustream::tests
