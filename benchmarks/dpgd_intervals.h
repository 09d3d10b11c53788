// The figures of BDE+ about intervals: how often they cover, and how wide they are.
#pragma once

#include <utility>

#include "figure.h"

namespace nustream::benchmarks {

/// The coverage and width against the number of steps, at p = 10, n = 10,000, ρ = .015, m = 10, burn-in 20.
[[nodiscard]] std::pair<Figure, Figure> coverage_figures(bool quick, bool anisotropic);

/// Intervals from means of the last iterates instead of the last one (section 3.1, appendix B): runs of N/10 steps
/// after their burn-in of 20, for which 120 steps have no room, and checkpoints of one run, over half of their
/// distance. The last iterates and batch means are shown beside them. The setting is that of coverage_figures().
[[nodiscard]] Figure ends_figure(bool quick);

}  // namespace nustream::benchmarks
