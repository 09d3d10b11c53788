#include "encoder_norm.h"

#include <algorithm>
#include <numeric>
#include <variant>

#include "../noise/overload.h"
#include "exponential_encoder.h"
#include "nu_encoder.h"
#include "nustream/base/error.h"
#include "rounding.h"

namespace nustream::privacy {
namespace {

ExponentialEncoder damped_encoder(double kept) {
  return {1, {kept}, {kept}, 0};
}

/// q and b of a rational correlation are rounded, as are the p and a that generate the noise: an error of a
/// few u in a pole is one of a few u/(1 − q) in its term, and in the differences of poles that make a and b.
/// Where c_1 = Σ b_i exceeds c_0 = 1 (user-given poles), c is not non-increasing: the encoder with c_1 in the
/// place of c_0 dominates it entry by entry, and is.
ExponentialEncoder rational_encoder(const noise::Rational& rational, const Participation& participation) {
  const double slowest = *std::max_element(rational.q().begin(), rational.q().end());
  const double second = std::accumulate(rational.b().begin(), rational.b().end(), 0.0);
  const double first = participation.times() > 1 ? std::max(1.0, second) : 1.0;
  const double slack = 16 * static_cast<double>(rational.poles()) * unit_roundoff / (1 - slowest);
  return {first, rational.q(), rational.b(), slack};
}

}  // namespace

std::unique_ptr<EncoderNorm> encoder_norm(const noise::Correlation& correlation, const Participation& participation,
                                          std::optional<StepCount> /*most_steps*/) {
  const auto unfinished = [](const char* what) -> std::unique_ptr<EncoderNorm> {
    throw Unsupported(std::string("the sensitivity of this correlation is not available: ") + what);
  };
  return std::visit(noise::Overload{
                        [&](const noise::Independent&) { return exponential_norm({}, participation); },
                        [&](const noise::NuFtrl& nu) {
                          return participation.times() == 1 ? nu_column_norm(nu.nu)
                                                            : unfinished("nu, several participations");
                        },
                        [&](const noise::Rational& rational) {
                          return exponential_norm(rational_encoder(rational, participation), participation);
                        },
                        [&](const noise::DampedAntiPgd& damped) {
                          return exponential_norm(damped_encoder(1 - damped.nu.value()), participation);
                        },
                        [&](const noise::AntiPgd&) { return exponential_norm(damped_encoder(1), participation); },
                        [&](const noise::Windowed&) { return unfinished("windowed"); },
                        [&](const noise::Strategy&) { return unfinished("strategy"); },
                        [&](const noise::Tree&) { return unfinished("tree"); },
                    },
                    correlation.family());
}

}  // namespace nustream::privacy
