// The squared sensitivity of one encoder C as a function of the number of steps; private to the privacy room. Both
// sensitivity() and Spend ask this class, so that plan, calibration and running spend cannot disagree.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "nustream/base/error.h"
#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"
#include "nustream/privacy/participation.h"

namespace nustream::privacy {

/// max ‖Σ_{t ∈ π} C e_t‖₂² over the participations π that one Participation allows, rounded up.
///
/// Implementations are not thread-safe: they remember where the last call ended, so that rising step counts are
/// cheap. Their answers must not depend on what was asked before, not even in the last bit, since every release
/// publishes one.
class EncoderNorm {
 public:
  virtual ~EncoderNorm() = default;
  /// The squared sensitivity over `steps` ≥ 1 steps. The caller keeps `steps` within the correlation's horizon.
  [[nodiscard]] virtual double squared(std::uint64_t steps) = 0;
  /// The squared sensitivity to one participation within the `age` ≥ 1 steps that begin with its own step, at the
  /// worst place of that step within the horizon. It is asked only where a record takes part once. Where C is
  /// Toeplitz the place does not matter and the answer is squared(age).
  [[nodiscard]] virtual double squared_by_age(std::uint64_t age) { return squared(age); }
  /// The limit of squared() for steps → ∞. Throws Unsupported where it is infinite or not known.
  [[nodiscard]] virtual double squared_limit() = 0;
};

/// Makes the norm of a correlation's encoder. No later call may ask for more than `most_steps` steps, as numeric
/// families compute their columns that far only. `most_steps` is empty where squared_limit() or any number of steps
/// may be asked for.
[[nodiscard]] std::unique_ptr<EncoderNorm> encoder_norm(const noise::Correlation& correlation,
                                                        const Participation& participation,
                                                        std::optional<StepCount> most_steps);

/// Throws Unsupported where `steps` is beyond the correlation's horizon. A sensitivity computed there would belong
/// to another correlation than the one that generates the noise.
inline void require_within_horizon(const noise::Correlation& correlation, StepCount steps) {
  const auto horizon = correlation.horizon();
  if (!horizon || steps <= *horizon) return;
  throw Unsupported(std::to_string(steps.value()) + " steps are beyond the horizon of " +
                    std::to_string(horizon->value()) + " steps of the correlation " + correlation.name() +
                    ": stop there, or plan a longer horizon");
}

}  // namespace nustream::privacy
