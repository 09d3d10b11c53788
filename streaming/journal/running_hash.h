// BLAKE2b-256 of a file that grows.
#pragma once

#include <sodium.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace nustream::journal {

using Hash = std::array<std::uint8_t, 32>;

/// Hash of everything that was added so far; adding in other pieces gives the same.
class RunningHash {
 public:
  RunningHash();
  void add(std::string_view bytes);
  [[nodiscard]] Hash value() const;

 private:
  crypto_generichash_state state_;
};

/// Hash of one text.
[[nodiscard]] Hash hash_of(std::string_view bytes);

/// The first `length` bytes of a file, without keeping them.
struct Extent {
  std::uint64_t length = 0;
  Hash hash = hash_of("");

  friend bool operator==(const Extent&, const Extent&) = default;
};

}  // namespace nustream::journal
