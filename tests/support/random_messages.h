// Messages of every shape, from a seed.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "stored_message.h"

namespace nustream::tests {

/// Up to `bytes_max` bytes, of any value or of a few, so that some compress well.
inline std::string random_bytes(std::mt19937_64& random, std::size_t bytes_max) {
  std::string bytes(random() % (bytes_max + 1), '\0');
  const std::uint64_t values = random() % 2 == 0 ? 3 : 256;
  for (char& byte : bytes) byte = static_cast<char>(random() % values);
  return bytes;
}

/// A part that is null, empty, short or long.
inline std::optional<std::string> random_part(std::mt19937_64& random, std::size_t bytes_max) {
  switch (random() % 6) {
    case 0:
      return std::nullopt;
    case 1:
      return std::string();
    case 2:
      return random_bytes(random, bytes_max);
    default:
      return random_bytes(random, 20);
  }
}

/// `count` messages from offset `first` on, with gaps, nulls, empty parts, repeated headers and times of any kind.
inline std::vector<StoredMessage> random_messages(std::mt19937_64& random, std::uint64_t first, std::size_t count,
                                                  std::size_t bytes_max = 2000) {
  std::vector<StoredMessage> messages(count);
  std::uint64_t offset = first;
  for (StoredMessage& message : messages) {
    if (random() % 5 == 0) offset += random() % (random() % 10 == 0 ? std::uint64_t{1} << 40 : 100);
    message.offset = offset++;
    message.key = random_part(random, bytes_max);
    message.value = random_part(random, bytes_max);
    for (std::uint64_t headers = random() % 4; headers > 0; --headers) {
      message.headers.emplace_back(std::string(random() % 3, 'h'), random_part(random, 30));
    }
    message.milliseconds =
        static_cast<std::int64_t>(random() % 10 == 0 ? random() : 1'600'000'000'000 + random() % 1000);
    message.time_kind = static_cast<decode::TimeKind>(random() % 3);
  }
  return messages;
}

}  // namespace nustream::tests
