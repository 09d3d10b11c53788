// Tables and noise for tests of fits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
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

/// The same noise. The standard deviation of each stage's noise, in units of its grid, goes to `stddevs`.
inline ranges::DrawNoise told_noise_of(std::uint8_t number, std::map<ranges::KeyStage, double>& stddevs) {
  return [&stddevs, keyed = noise_of(number)](ranges::KeyStage stage, const noise::Grid& grid, std::size_t entries) {
    std::int64_t units = 0;
    const double one = 1;
    grid.round_noise({&one, 1}, {&units, 1});
    stddevs[stage] = grid.to_gradient(units);
    return keyed(stage, grid, entries);
  };
}

/// A table that a test makes: x row by row, and a target for each row.
struct MadeTable {
  std::size_t features;
  std::vector<double> x;
  std::vector<double> y;
  [[nodiscard]] ranges::Table table() const { return {features, x, y}; }
};

}  // namespace nustream::tests
