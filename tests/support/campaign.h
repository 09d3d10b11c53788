// Counts of tests: scaled down in CI, and in full where a campaign asks for them (tests/campaign/README.md).
#pragma once

#include <cstdint>
#include <cstdlib>

namespace nustream::tests {

/// Whether NUSTREAM_CAMPAIGN is in the environment: it asks for full counts and checks the promised times.
inline bool campaign() {
  return std::getenv("NUSTREAM_CAMPAIGN") != nullptr;
}

inline int scaled(int full, int quick) {
  return campaign() ? full : quick;
}

/// The number that the environment has under this name, or else `otherwise`.
inline std::uint64_t asked(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace nustream::tests
