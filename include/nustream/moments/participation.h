// Computes how far one unit can move the encoded sums where a step takes a batch of records.
#pragma once

#include <cstdint>

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"
#include "nustream/privacy/participation.h"

namespace nustream::moments {

/// A unit has at most `times` records, any two of them at least `separation` records apart: k and b, with b counted
/// in records. A step takes `batch` records, m.
struct BatchParticipation {
  std::uint64_t times = 1;
  std::uint64_t separation = 1;
  std::uint64_t batch = 1;

  friend bool operator==(const BatchParticipation&, const BatchParticipation&) = default;
};
/// Throws InvalidParameter where one of the three is 0.
void check(const BatchParticipation& participation);

/// The records of a unit, dealt out into layers: the i-th record goes into layer i mod q, q = min(k, ⌈m/b⌉) and at
/// least 1. Where q = ⌈m/b⌉, two records of one layer are at least qb records apart, which is ⌊qb/m⌋ ≥ 1 steps; where
/// q = k, each layer has one record. So no step has two records of a layer, and each layer is a participation in
/// steps. Of the q layers, `more` have one record more than the others.
struct Layers {
  std::uint64_t fewer;  ///< how many layers have ⌊k/q⌋ records
  std::uint64_t more;   ///< how many have ⌊k/q⌋ + 1
  privacy::Participation of_fewer;
  privacy::Participation of_more;
};
[[nodiscard]] Layers layers(const BatchParticipation& participation);

/// The largest ‖Σ C e_t‖ over the steps of the unit's records. It is dimensionless, in units of how far one record
/// moves the sums of a step.
///
/// Guarantee: an upper bound for every correlation, of the very B that the generators draw from. The layers' encoded
/// changes add up, and the length of a sum is at most the sum of the lengths: (q − r)·sens(⌊k/q⌋, b′) + r·sens(⌊k/q⌋
/// + 1, b′) with b′ = ⌊qb/m⌋ steps and r = k mod q. For b ≥ m there is one layer, with b′ = ⌊b/m⌋.
///
/// It is exact for one record. It is at most 1.33 times the exact length over all units of at most 4 records, 9
/// apart, in steps of at most 4 records, over at most 6 steps (exhaustive search, four correlations). A caller that
/// passed b, which counts records, in the place of b′, which counts steps, would claim too small a sensitivity.
///
/// Throws as check() and privacy::sensitivity() do.
[[nodiscard]] Sensitivity sensitivity(const noise::Correlation& correlation, StepCount steps,
                                      const BatchParticipation& participation);
/// The same bound over all steps that the correlation allows.
[[nodiscard]] Sensitivity sensitivity_limit(const noise::Correlation& correlation,
                                            const BatchParticipation& participation);

}  // namespace nustream::moments
