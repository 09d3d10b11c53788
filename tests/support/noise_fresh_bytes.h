// Fresh bytes for the segments of noise, from a test's seed in the place of the system's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "nustream/noise/source.h"

namespace nustream::testing {

/// A source of fresh bytes that a test controls.
class Script {
 public:
  explicit Script(std::uint64_t seed) : random_(seed) {}
  [[nodiscard]] noise::Healing healing(bool resumed) {
    return {[this](std::span<std::uint8_t> bytes) {
              for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random_());
              drawn.emplace_back();
              std::ranges::copy(bytes, drawn.back().begin());
            },
            resumed};
  }
  std::vector<noise::KeyBytes> drawn;

 private:
  std::mt19937_64 random_;
};

}  // namespace nustream::testing
