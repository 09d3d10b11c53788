// Tables and noise for tests of fits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nustream/ranges/noise_draws.h"
#include "nustream/ranges/table_fit.h"

namespace nustream::tests {

/// The bytes of a key: all of them number + 1.
inline noise::KeyBytes numbered_bytes(std::uint8_t number) {
  noise::KeyBytes key{};
  key.fill(static_cast<std::uint8_t>(number + 1));
  return key;
}

/// The noise under the key of that number.
inline ranges::DrawNoise noise_of(std::uint8_t number) {
  return ranges::keyed_noise(numbered_bytes(number), LaneId{0}, EpochId{0});
}

/// A table that a test makes: x row by row, and a target for each row.
struct MadeTable {
  std::size_t features;
  std::vector<double> x;
  std::vector<double> y;
  [[nodiscard]] ranges::Table table() const { return {features, x, y}; }
};

}  // namespace nustream::tests
