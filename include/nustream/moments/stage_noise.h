// How much of the noise is in the sums of each stage, and how much two stages have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"

namespace nustream::moments {

/// Covariances M_ij of N_i = Σ_{τ in stage i} κ^{t−1−τ} z_τ, the noise after t steps in the sums of stage i, per unit
/// of the seed noise's variance. Stages are one mechanism, and their noise is correlated: N_i and N_j of neighbouring
/// stages mostly cancel. Row-major, stages × stages.
///
/// κ is what a step keeps of the sums before it: 1 for plain sums, 1 − ν for forgetting ones. With one stage and κ =
/// 1 it is Σ_{s<t} r_s², r_s = β_0 + … + β_s; with one stage and B's own κ (B² = 1 − κ·shift) it is γ_t².
///
/// Const functions change a cache: one object is for one thread. Answers depend, to the bit, on the question alone.
/// O((m + stages)³) amortised for successive steps of correlations with a recurrence of m numbers (independent,
/// rational, damped anti-PGD); O(steps · stages²) from the coefficients of the others. Throws Unsupported for
/// correlations that are not Toeplitz, beyond 2^22 steps without a recurrence, and beyond the horizon.
class StageNoise {
 public:
  /// κ in (0, 1].
  StageNoise(const noise::Correlation& correlation, double kept);
  ~StageNoise();
  StageNoise(StageNoise&&) noexcept;
  StageNoise& operator=(StageNoise&&) noexcept;

  /// `firsts`: the first step of each stage, rising, each below `steps`; steps before the first of them are in none.
  [[nodiscard]] std::vector<double> covariance(std::span<const std::uint64_t> firsts, StepCount steps) const;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace nustream::moments
