// How far one unit can move the encoded sums where a step takes a batch of records.
#pragma once

#include <cstdint>

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"
#include "nustream/privacy/participation.h"

namespace nustream::moments {

/// A unit has at most `times` records, any two of them at least `separation` records apart (k and b, b in *records*);
/// a step takes `batch` records (m).
struct BatchParticipation {
  std::uint64_t times = 1;
  std::uint64_t separation = 1;
  std::uint64_t batch = 1;

  friend bool operator==(const BatchParticipation&, const BatchParticipation&) = default;
};
/// Throws InvalidParameter where one of the three is 0.
void check(const BatchParticipation& participation);

/// A unit's records dealt out into layers: the i-th into layer i mod q, q = min(k, ⌈m/b⌉) and at least 1. No step has
/// two records of a layer, since those are at least qb records apart, ⌊qb/m⌋ steps of them, so that each layer is a
/// participation in steps. Of the q layers `more` have one record more than the others.
struct Layers {
  std::uint64_t fewer;  ///< how many layers have ⌊k/q⌋ records
  std::uint64_t more;   ///< how many have ⌊k/q⌋ + 1
  privacy::Participation of_fewer;
  privacy::Participation of_more;
};
[[nodiscard]] Layers layers(const BatchParticipation& participation);

/// The largest ‖Σ C e_t‖ over the steps of the unit's records: dimensionless, in units of how far one record moves a
/// step's sums.
///
/// Guarantee: an upper bound for every correlation, of the very B that the generators draw from. The layers' encoded
/// changes add up, and the length of a sum is at most the sum of the lengths: (q − r)·sens(⌊k/q⌋, b′) +
/// r·sens(⌊k/q⌋ + 1, b′), b′ = ⌊qb/m⌋ steps, r = k mod q. For b ≥ m there is one layer, with b′ = ⌊b/m⌋. It is
/// exact for one record, and at most 1.33 times the exact length over all units of at most 4 records, 9 apart, in
/// steps of at most 4 records, over at most 6 steps (exhaustive search, four correlations). A b that is taken for b′
/// claims less than what is there.
///
/// Throws as privacy::sensitivity() does.
[[nodiscard]] Sensitivity sensitivity(const noise::Correlation& correlation, StepCount steps,
                                      const BatchParticipation& participation);
/// The same over all steps that the correlation allows.
[[nodiscard]] Sensitivity sensitivity_limit(const noise::Correlation& correlation,
                                            const BatchParticipation& participation);

}  // namespace nustream::moments
