// Rules of a linear descent over a stream that name a number before any data are read: a bound of its error after so
// many steps, and a clip norm under which it holds. Source: CDP+ Theorem D.13, whose constants are not given; here
// rows are normal, and every constant is. Notation: docs/notation.md.
#pragma once

#include <cstdint>
#include <optional>

#include "nustream/base/units.h"
#include "nustream/inference/expected_error.h"

namespace nustream::inference {

/// E F(θ_T) − F(θ*), F = ½E(y − xᵀθ)², is at most their sum where nothing is clipped (Theorem D.13 (c)).
struct StreamBound {
  double start;     ///< ½ λ_max c^T D²: what may be left of the start
  double sampling;  ///< of the records' residuals, in the limit
  double privacy;   ///< of the noise, in the limit
  [[nodiscard]] double total() const noexcept { return start + sampling + privacy; }
};

/// Of steps θ ← θ − η(mean of x(xᵀθ − y) over m records + noise). c = max_λ 1 − 2ηλ + η²λ²(1 + 1/m) + η²λ Tr H/m is
/// the most of E‖θ − θ*‖² that a step keeps; the paper has e^(−ημ) for it, where η ≤ 1/R², R² ≤ 3 Tr H, and 2L/μ of
/// the start's error for λ_max D²/2. `privacy` is what the noise leaves in the limit (privacy::stationary_excess());
/// it rises to that from nothing. Empty where the step size is so large that the second moment may grow.
[[nodiscard]] std::optional<StreamBound> stream_bound(const StreamGuess& guess, StepSize step_size,
                                                      std::uint64_t minibatch, std::uint64_t steps, double privacy);

/// G under which no gradient of `records` records is clipped with probability at least 1 − `failure` (Theorem D.13
/// (b)): that of a table of one step (clip_norm_that_clips_nothing()), since each record is taken once, with the
/// errors that residuals (`sampling`) and noise add to a residual. `privacy_per_clip` is the noise's excess in the
/// limit for G = 1. Empty where none is enough, since each brings more noise than it lets through: the theorem's
/// second condition on η.
[[nodiscard]] std::optional<double> stream_clip_norm(const StreamGuess& guess, double sampling,
                                                     double privacy_per_clip, std::uint64_t records, double failure);

}  // namespace nustream::inference
