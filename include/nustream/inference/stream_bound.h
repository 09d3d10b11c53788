// Computes two numbers for a linear descent over a stream before any data are read: a bound of its error after a
// number of steps, and a clip norm under which the bound holds. Source: CDP+ Theorem D.13, whose constants are not
// given; here rows are normal, and every constant is. Notation: docs/notation.md.
#pragma once

#include <cstdint>
#include <optional>

#include "nustream/base/units.h"
#include "nustream/inference/expected_error.h"

namespace nustream::inference {

/// E F(θ_T) − F(θ*), F = ½E(y − xᵀθ)², is at most the sum of these three where nothing is clipped (Theorem D.13 (c)).
struct StreamBound {
  double start;     ///< ½ λ_max c^T D²: what may be left of the start
  double sampling;  ///< of the records' residuals, in the limit
  double privacy;   ///< of the noise, in the limit
  [[nodiscard]] double total() const noexcept { return start + sampling + privacy; }
};

/// The bound after T = `steps` steps θ ← θ − η(mean of x(xᵀθ − y) over m records + noise). A step keeps at most the
/// share c = max_λ 1 − 2ηλ + η²λ²(1 + 1/m) + η²λ Tr H/m of E‖θ − θ*‖². The paper has e^(−ημ) in the place of c, where
/// η ≤ 1/R² with R² ≤ 3 Tr H, and 2L/μ times the start's error in the place of λ_max D²/2. `privacy` is what the
/// noise leaves in the limit (privacy::stationary_excess()); it leaves less at every finite step. Empty where the
/// step size is so large that the second moment may grow.
[[nodiscard]] std::optional<StreamBound> stream_bound(const StreamGuess& guess, StepSize step_size,
                                                      std::uint64_t minibatch, std::uint64_t steps, double privacy);

/// A clip norm G under which, with probability at least 1 − `failure`, no gradient of `records` records is clipped
/// (Theorem D.13 (b)). Each record is taken once, so this is the clip norm of a table of one step
/// (clip_norm_that_clips_nothing()); the variance of residuals includes the errors that sampling (`sampling`) and
/// noise add. `privacy_per_clip` is the excess that the noise leaves in the limit for G = 1. Empty where no G is
/// enough, because every G brings more noise than it lets through: the theorem's second condition on η.
[[nodiscard]] std::optional<double> stream_clip_norm(const StreamGuess& guess, double sampling,
                                                     double privacy_per_clip, std::uint64_t records, double failure);

}  // namespace nustream::inference
