// How much noise running sums leave in an estimate. It follows from settings and counts alone.
#pragma once

#include <cstdint>

#include "config/mechanism.h"
#include "nustream/base/units.h"

namespace nustream::engine {

/// The reach of the noise after `releases` releases, with the clipping radii of the first stage. Both figures are in
/// working units and divided by the number of records.
struct SumsReach {
  std::uint64_t releases;
  std::uint64_t records;
  /// λ/n: noise hides a direction in which the mean of xxᵀ has an eigenvalue below this. With an adaptive ridge it is
  /// the largest λ/n that is possible; it is reached where the data's smallest eigenvalue is 0.
  double floor;
  /// The standard deviation that the noise of the target's moments leaves in a coefficient whose direction has the
  /// eigenvalue 1; it is to be divided by the eigenvalue.
  double stddev;
  /// The standard deviation of an entry of the noise in the mean of xxᵀ.
  double second;
};

/// Computes the reach. Contract: config.moments is set. Throws Unsupported beyond the correlation's horizon.
[[nodiscard]] SumsReach sums_reach(const config::Config& config, const config::Mechanism& mechanism,
                                   StepCount releases);

}  // namespace nustream::engine
