#include "recurrence.h"

#include <variant>

namespace nustream::noise {

std::optional<Recurrence> recurrence_of(const Correlation& correlation) {
  if (std::holds_alternative<Independent>(correlation.family())) return Recurrence{};
  if (const auto* rational = std::get_if<Rational>(&correlation.family())) {
    return Recurrence{rational->p(), rational->a()};
  }
  if (const auto* damped = std::get_if<DampedAntiPgd>(&correlation.family())) {
    return Recurrence{{0.0}, {1 - damped->nu.value()}};
  }
  return std::nullopt;
}

}  // namespace nustream::noise
