// What the noise of running sums leaves in an estimate, by settings and counts alone.
#pragma once

#include <cstdint>

#include "config/mechanism.h"
#include "nustream/base/units.h"

namespace nustream::engine {

/// After so many releases, with the radii of the first stage and in working units, as parts of the number of records.
struct SumsReach {
  std::uint64_t releases;
  std::uint64_t records;
  /// λ/n: where an eigenvalue of the mean of xxᵀ is below it, noise hides that direction. With an adaptive ridge the
  /// most that it may be, which it is where the data's smallest eigenvalue is 0.
  double floor;
  double stddev;  ///< that the noise of the target's moments leaves in a coefficient, divided by that eigenvalue
};

/// Contract: config.moments is there. Throws Unsupported beyond the correlation's horizon.
[[nodiscard]] SumsReach sums_reach(const config::Config& config, const config::Mechanism& mechanism,
                                   StepCount releases);

}  // namespace nustream::engine
