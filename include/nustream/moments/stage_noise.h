// Computes how much noise is in the sums of each stage, and how much of it two stages have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"

namespace nustream::moments {

/// The covariances M_ij of N_i = Σ_{τ in stage i} κ^{t−1−τ} z_τ, the noise that is in the sums of stage i after t
/// steps, per unit of the seed noise's variance. All stages are one mechanism and their noise is correlated: N_i and
/// N_j of neighbouring stages mostly cancel. Row-major, stages × stages.
///
/// κ is what a step keeps of the sums before it: 1 for plain sums, 1 − ν for forgetting ones. With one stage and κ =
/// 1, M is Σ_{s<t} r_s² with r_s = β_0 + … + β_s. With one stage and B's own κ (B² = 1 − κ·shift) it is γ_t².
///
/// Const functions change a cache, so one object belongs to one thread. Every bit of an answer depends on the
/// arguments alone. Successive steps take O((m + stages)³) amortised for correlations with a recurrence of m numbers
/// (independent, rational, damped anti-PGD), and O(steps · stages²) from the coefficients of the others. Throws
/// Unsupported for correlations that are not Toeplitz, beyond 2^22 steps without a recurrence, and beyond the
/// horizon.
class StageNoise {
 public:
  /// Throws InvalidParameter unless κ is in (0, 1].
  StageNoise(const noise::Correlation& correlation, double kept);
  ~StageNoise();
  StageNoise(StageNoise&&) noexcept;
  StageNoise& operator=(StageNoise&&) noexcept;

  /// `firsts` holds the first step of each stage, rising and below `steps`. Steps before the first stage belong to
  /// none.
  [[nodiscard]] std::vector<double> covariance(std::span<const std::uint64_t> firsts, StepCount steps) const;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace nustream::moments
