// Counts: scaled down in CI, in full where a campaign asks for them (tests/campaign/README.md).
#pragma once

#include <cstdint>
#include <cstdlib>

namespace nustream::tests {

/// NUSTREAM_CAMPAIGN in the environment: full counts and the promised times.
inline bool campaign() {
  return std::getenv("NUSTREAM_CAMPAIGN") != nullptr;
}

inline int scaled(int full, int quick) {
  return campaign() ? full : quick;
}

/// What the environment asks for by this name, where it does.
inline std::uint64_t asked(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace nustream::tests
