// The squared sensitivity of one encoder C as a function of the number of steps; private to the privacy room.
// sensitivity() and Spend both ask this one, so that plan, calibration and running spend cannot disagree.
#pragma once

#include <cstdint>
#include <memory>

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"
#include "nustream/privacy/participation.h"

namespace nustream::privacy {

/// max ‖Σ_{t ∈ π} C e_t‖₂² over the participations π that one Participation allows, rounded up. Not
/// thread-safe: implementations remember where the last call ended, so that rising step counts are cheap; what
/// they answer does not depend, to the bit, on what was asked before (it is published in every release).
class EncoderNorm {
 public:
  virtual ~EncoderNorm() = default;
  /// Over `steps` ≥ 1 steps, at most the correlation's horizon.
  [[nodiscard]] virtual double squared(std::uint64_t steps) = 0;
  /// Of one participation within the `age` ≥ 1 steps from its own on, wherever within the horizon that step is; asked
  /// where a record takes part once. Where C is Toeplitz that is squared(age).
  [[nodiscard]] virtual double squared_by_age(std::uint64_t age) { return squared(age); }
  /// For steps → ∞. Throws Unsupported where that is infinite or not known.
  [[nodiscard]] virtual double squared_limit() = 0;
};

/// `most_steps`: no later call asks for more steps than this (numeric families compute that far only); empty
/// where squared_limit() or any number of steps may be asked for.
[[nodiscard]] std::unique_ptr<EncoderNorm> encoder_norm(const noise::Correlation& correlation,
                                                        const Participation& participation,
                                                        std::optional<StepCount> most_steps);

}  // namespace nustream::privacy
