// The correlations whose noise has a memory of a few numbers, for code that computes variances from that memory.
#pragma once

#include <optional>
#include <vector>

#include "nustream/noise/correlation.h"

namespace nustream::noise {

/// The recurrence z_t = w_t − Σ a_i s_{i,t}, s_{i,t+1} = p_i s_{i,t} + w_t, s_{i,0} = 0 (docs/notation.md).
struct Recurrence {
  std::vector<double> p;
  std::vector<double> a;
};
/// The recurrence of independent, rational and damped anti-PGD noise; empty for other correlations.
[[nodiscard]] std::optional<Recurrence> recurrence_of(const Correlation& correlation);

}  // namespace nustream::noise
