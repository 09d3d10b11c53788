// Computes numbers for a private two-stage descent over a table before any data are read: step sizes under which it
// contracts, how fast it contracts, and clip norms that clip nothing. Source: the IV paper, Theorem 3.1, equations
// (3), (4), (8) and (10), Lemma D.1. Its constants C_0 and c_0 are not given; here rows are normal, and every
// constant is.
#pragma once

#include <cstdint>
#include <optional>

#include "nustream/base/units.h"

namespace nustream::inference {

/// Public guesses of x = Θᵀz + ε_2, y = xᵀβ + ε_1 in working coordinates. z is normal, and its q entries are
/// uncorrelated with variance 1 (Assumption 2). The p entries of ε_2 are uncorrelated too. There are no controls.
struct TwoStageGuess {
  std::uint64_t instruments;  ///< q
  std::uint64_t regressors;   ///< p ≤ q
  double weakest;             ///< σ_min(Θ)
  double strongest;           ///< ‖Θ‖
  double first_residual;      ///< standard deviation of an entry of ε_2
  double residual;            ///< standard deviation of ε_1
  double distance;            ///< ‖β‖: the start is 0
  std::uint64_t records;      ///< n
};

/// All of these hold with probability at least 1 − `failure` over the tables, by bounds of Gaussian matrices.
struct TwoStageConditions {
  double least;      ///< γ̲: no eigenvalue of Θ̂ᵀZᵀZΘ̂/n is smaller; 0 where that is not sure
  double largest;    ///< γ̄: none is larger
  double delta;      ///< δ: no eigenvalue of ZᵀZ/n is outside (1 ∓ δ)²
  double eta_max;    ///< η below 2/(1 + δ)² contracts
  double alpha_max;  ///< α below 4/(2γ̄ + γ̲) contracts while Θ is still moving
  double eta;        ///< 2/((1 + δ)² + (1 − δ)²), the fastest of them (equation (8))
  double alpha;      ///< 2/(γ̄ + γ̲)
};
[[nodiscard]] TwoStageConditions two_stage_conditions(const TwoStageGuess& guess, double failure);

/// κ = max of κ_β and κ_Θ (equation (10)): the error of the start is of the order κ^(T/2). If κ is 1 or more, the
/// descent may not contract.
[[nodiscard]] double contraction(const TwoStageConditions& conditions, double eta, double alpha);

/// What one unit of clip norm leaves in the limit: the variance of an entry of Θ and of β.
struct TwoStageNoise {
  double first;
  double second;
};
struct TwoStageClips {
  double first;   ///< γ_1
  double second;  ///< γ_2
};
/// Clip norms under which, with probability at least 1 − `failure`, no gradient of T steps from 0 is clipped, for
/// iterates that do not depend on the row they are compared with (Lemma D.1). With β = `failure`, R = √q + √(2
/// ln(5n/β)), P = √p + √(2 ln(5nT/β)), r = √(2 ln(10nT/β)) and ‖Θ_t‖ ≤ ‖Θ‖ except for its noise,
///
///     γ_1 = RP √(σ_2² + ‖Θ‖² + v_1 q γ_1²),   w² = ‖Θ‖² + v_1 q γ_1²,
///     γ_2 = Pwr √((σ_1 + σ_2‖β‖)² + w²‖β‖² + w² p v_2 γ_2²).
///
/// Empty where no clip norms are enough, because all of them bring more noise than they let through: condition (5) on
/// T.
[[nodiscard]] std::optional<TwoStageClips> two_stage_clips(const TwoStageGuess& guess, const TwoStageNoise& noise,
                                                           std::uint64_t steps, double failure);

}  // namespace nustream::inference
