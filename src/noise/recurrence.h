// The correlations whose noise has a memory of a few numbers, for those who work out its variances.
#pragma once

#include <optional>
#include <vector>

#include "nustream/noise/correlation.h"

namespace nustream::noise {

/// z_t = w_t − Σ a_i s_{i,t}, s_{i,t+1} = p_i s_{i,t} + w_t, s_{i,0} = 0: docs/notation.md.
struct Recurrence {
  std::vector<double> p;
  std::vector<double> a;
};
/// Of independent, rational and damped anti-PGD noise; empty for others.
[[nodiscard]] std::optional<Recurrence> recurrence_of(const Correlation& correlation);

}  // namespace nustream::noise
