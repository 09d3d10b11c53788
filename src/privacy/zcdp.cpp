#include "nustream/privacy/zcdp.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "nustream/base/error.h"
#include "planted.h"
#include "rounding.h"

namespace nustream::privacy {

Rho rho(Sensitivity sensitivity, NoiseMultiplier sigma) {
  // The quotient first: σ² alone could overflow or vanish.
  const double mu = sensitivity.value() / sigma.value();
  if (NUSTREAM_PLANTED("rho-of-gamma-not-squared")) return Rho{mu / sigma.value() / 2};
  return Rho{rounded_up(mu * mu / 2, 0)};
}

NoiseMultiplier multiplier_for(Sensitivity sensitivity, Rho rho) {
  if (rho.value() == 0) throw InvalidParameter("rho", "0", "a finite number > 0");
  if (NUSTREAM_PLANTED("sigma-from-squared-gamma")) sensitivity = Sensitivity{std::pow(sensitivity.value(), 2)};
  if (NUSTREAM_PLANTED("sigma-without-the-root")) return NoiseMultiplier{sensitivity.value() / (2 * rho.value())};
  // 16 u in σ are 32 u in ρ: more than rho() adds.
  return NoiseMultiplier{rounded_up(sensitivity.value() / std::sqrt(2 * rho.value()), 16 * unit_roundoff)};
}

Rho compose(std::span<const Rho> parts) {
  if (NUSTREAM_PLANTED("composition-takes-the-largest")) return parallel(parts);
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
