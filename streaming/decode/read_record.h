// A record as it stood in the input, by which it is recognised again (docs/formats/state.md, seen).
#pragma once

#include <cstdint>
#include <string>

#include "decode/message.h"

namespace nustream::decode {

struct ReadRecord {
  std::uint64_t position = 0;  ///< its ordinal or offset
  std::string bytes;           ///< of a line: without its newline, at most record_bytes_max
};

/// The bytes of a message: its time, key and value, so that no two messages that differ in these have the same bytes.
[[nodiscard]] std::string bytes_of(const Message& message);

}  // namespace nustream::decode
