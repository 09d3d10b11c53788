#include "recurrence.h"

#include <variant>

namespace nustream::noise {

std::optional<Recurrence> recurrence_of(const Correlation& correlation) {
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
