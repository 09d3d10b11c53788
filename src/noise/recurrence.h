// The correlations whose noise has a memory of a few numbers, for code that computes variances from that memory.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "nustream/noise/correlation.h"

namespace nustream::noise {

/// The recurrence z_t = w_t − Σ a_i s_{i,t}, s_{i,t+1} = p_i s_{i,t} + w_t, s_{i,0} = 0 (docs/notation.md).
struct Recurrence {
  std::vector<double> p;
  std::vector<double> a;
};
/// The recurrence of independent, rational and damped anti-PGD noise; empty for other correlations.
[[nodiscard]] inline std::optional<Recurrence> recurrence_of(const Correlation& correlation) {
  if (std::holds_alternative<Independent>(correlation.family())) return Recurrence{};
  if (const auto* rational = std::get_if<Rational>(&correlation.family())) {
    return Recurrence{rational->p(), rational->a()};
  }
  // β = 1, −(1−ν), 0, … is one pole at 0 with weight 1 − ν, since 0^0 = 1.
  if (const auto* damped = std::get_if<DampedAntiPgd>(&correlation.family())) {
    return Recurrence{{0.0}, {1 - damped->nu.value()}};
  }
  return std::nullopt;
}

}  // namespace nustream::noise
