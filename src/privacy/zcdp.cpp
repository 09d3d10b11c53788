// The arithmetic of zCDP: ρ of a Gaussian mechanism (CDP+ Theorem 1.1), σ for a given ρ, and composition (Bun and
// Steinke 2016, Lemma 1.7). Results are rounded to the safe side, ρ and σ upwards. The running spend is in spend.cpp.
#include "nustream/privacy/zcdp.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "nustream/base/error.h"
#include "rounding.h"

namespace nustream::privacy {

Rho rho(Sensitivity sensitivity, NoiseMultiplier sigma) {
  // The quotient is squared, not its parts: σ² alone could overflow or vanish.
  const double mu = sensitivity.value() / sigma.value();
  return Rho{rounded_up(mu * mu / 2, 0)};
}

NoiseMultiplier multiplier_for(Sensitivity sensitivity, Rho rho) {
  if (rho.value() == 0) throw InvalidParameter("rho", "0", "a finite number > 0");
  // An excess of 16 u in σ is one of 32 u in ρ, which is more than rho() adds by rounding up.
  return NoiseMultiplier{rounded_up(sensitivity.value() / std::sqrt(2 * rho.value()), 16 * unit_roundoff)};
}

Rho compose(std::span<const Rho> parts) {
  // A single part is passed through unchanged, so that composing one mechanism does not change its published ρ.
  long double sum = 0;
  for (const Rho& part : parts) sum += part.value();
  const double additions = static_cast<double>(parts.size());
  const double slack = additions * static_cast<double>(std::numeric_limits<long double>::epsilon());
  return Rho{parts.size() == 1 ? parts.front().value() : rounded_up(static_cast<double>(sum), slack)};
}

Rho parallel(std::span<const Rho> parts) {
  Rho largest{0};
  for (const Rho& part : parts) largest = std::max(largest, part);
  return largest;
}

}  // namespace nustream::privacy
