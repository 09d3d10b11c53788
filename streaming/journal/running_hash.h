// The BLAKE2b-256 hash of a file that grows.
#pragma once

#include <sodium.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace nustream::journal {

using Hash = std::array<std::uint8_t, 32>;

/// The hash of everything that was added so far. It does not depend on the pieces in which that was added.
class RunningHash {
 public:
  RunningHash();
  void add(std::string_view bytes);
  [[nodiscard]] Hash value() const;

 private:
  crypto_generichash_state state_;
};

/// The hash of one text.
[[nodiscard]] Hash hash_of(std::string_view bytes);

/// The first `length` bytes of a file, by their length and hash alone.
struct Extent {
  std::uint64_t length = 0;
  Hash hash = hash_of("");

  friend bool operator==(const Extent&, const Extent&) = default;
};

}  // namespace nustream::journal
