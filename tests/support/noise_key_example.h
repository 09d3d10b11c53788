// The key of the golden vectors of docs/formats/noise.md, and hexadecimal text.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "nustream/noise/source.h"

namespace nustream::testing {

/// The bytes 0, 1, … 31.
inline noise::KeyBytes example_epoch_key() {
  noise::KeyBytes key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(i);
  return key;
}

/// Three numbers whose bytes all differ, so that a wrong byte order shows.
inline noise::StageId example_stage() {
  return {LaneId{258}, EpochId{772}, 1286};
}

inline std::string to_hex(std::span<const std::uint8_t> bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const auto byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

}  // namespace nustream::testing
