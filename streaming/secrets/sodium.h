// libsodium, ready for use.
#pragma once

#include <sodium.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "nustream/base/error.h"

namespace nustream::secrets {

/// Lets libsodium choose its code for this processor; later calls are cheap. Any thread may call it.
inline void prepare_sodium() {
  NUSTREAM_REQUIRE(sodium_init() >= 0, "libsodium starts");
}

/// BLAKE2b of `message` under `key`, which has 0 or 16 to 64 bytes, in the 16 to 64 bytes of `out`. It serves as a
/// MAC, or derives one key from another. An empty key gives the hash that anybody can compute. Any thread may call
/// it.
inline void keyed_hash(std::span<const std::uint8_t> key, std::string_view message, std::span<std::uint8_t> out) {
  prepare_sodium();
  const auto* const bytes = reinterpret_cast<const unsigned char*>(message.data());
  const int status = crypto_generichash(out.data(), out.size(), bytes, message.size(), key.data(), key.size());
  NUSTREAM_REQUIRE(status == 0, "keyed BLAKE2b");
}

/// Whether a presented secret, such as a MAC, is the expected one. The time that this takes does not depend on where
/// they differ. A comparison that ends at the first difference would tell how far a guess is right.
[[nodiscard]] inline bool is_same(std::span<const std::uint8_t> presented,
                                  std::span<const std::uint8_t> expected) noexcept {
  return presented.size() == expected.size() &&
         sodium_memcmp(presented.data(), expected.data(), expected.size()) == 0;
}
[[nodiscard]] inline bool is_same(std::string_view presented, std::string_view expected) noexcept {
  const auto bytes = [](std::string_view text) {
    return std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  };
  return is_same(bytes(presented), bytes(expected));
}

}  // namespace nustream::secrets
