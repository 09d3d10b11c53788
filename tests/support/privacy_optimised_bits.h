// One number that stands for all bits of a fitted correlation.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <variant>

#include "nustream/noise/correlation.h"

namespace nustream::testing {

/// FNV-1a over the bytes of all numbers, from `hash` on.
[[nodiscard]] inline std::uint64_t bits(std::span<const double> values, std::uint64_t hash = 0xcbf29ce484222325) {
  for (const double value : values) {
    for (int byte = 0; byte < 8; ++byte) {
      hash ^= std::bit_cast<std::uint64_t>(value) >> (8 * byte) & 0xff;
      hash *= 0x100000001b3;
    }
  }
  return hash;
}

/// The bits of what generates the noise of a window, a strategy, a dense or a rational correlation.
[[nodiscard]] inline std::uint64_t bits(const noise::Correlation& correlation) {
  if (const auto* strategy = std::get_if<noise::Strategy>(&correlation.family())) return bits(strategy->c);
  if (const auto* window = std::get_if<noise::Windowed>(&correlation.family())) return bits(window->beta);
  if (const auto* dense = std::get_if<noise::Dense>(&correlation.family())) return bits(dense->rows());
  const auto& rational = std::get<noise::Rational>(correlation.family());
  return bits(rational.a(), bits(rational.p(), bits(rational.b(), bits(rational.q()))));
}

}  // namespace nustream::testing
