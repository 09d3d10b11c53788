// Bounds of whole rows, R_x and R_r, from noisy histograms of their lengths and residuals.
#pragma once

#include <cstddef>
#include <optional>

#include "nustream/base/units.h"
#include "nustream/ranges/histogram.h"

namespace nustream::ranges {

/// Bins: half an octave each, from 2^-20 to 2^40, and one in front for what is shorter.
inline constexpr std::size_t length_bins = 121;
/// Of a length ≥ 0; longer ones are of the last bin; no_bin where it is not finite.
[[nodiscard]] std::size_t length_bin(double length) noexcept;

/// Middle scales, never far quantiles: those the threshold would cut off.
struct RowScales {
  double inputs;     ///< x₀ = max(q.5, q.9/1.4) of ‖x‖
  double residuals;  ///< r₀ = max(q.5/.6745, q.9/1.645) of |y − xᵀθ_c|
  double counted;    ///< share of the part's rows in bins that are seen, within [0, 1]
  double curvature;  ///< q.9 of the third histogram, where there is one; else 0
};
/// Standard deviations of its noise that a count of lengths has to exceed.
inline constexpr double length_threshold = 3.5;
/// From a release of two or three histograms over the same rows: lengths of inputs, of residuals, and what a row adds
/// to the curvature, as a length. Empty where no bin of one of them is seen.
[[nodiscard]] std::optional<RowScales> row_scales(const NoisyCounts& lengths);

/// How wide bounds are, f: R_r = f·r₀ and R_x = max(2, f/2)·x₀, so that the noise of the target moments costs about
/// as much as sampling:
///
///     f² = √(t·2ρ_g)·n/(√d·γ²·x₀),  t = d/n,  2 ≤ f ≤ 12,  γ² = 1 for one release.
///
/// Residuals have tails; lengths of whitened inputs mostly lie near √d, and the noise of the second moments grows
/// with R_x². (R_x = f·x₀ has two to three times the squared error at ρ ≥ .1 on five public tables.)
///
/// `target` is ρ_g, `rows` n of the release that is bounded, `dimension` d, `inputs` x₀.
[[nodiscard]] double widening(Rho target, std::uint64_t rows, std::size_t dimension, double inputs);

}  // namespace nustream::ranges
