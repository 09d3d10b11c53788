// Finds the bounds of whole rows, R_x and R_r, from noisy histograms of their lengths and residuals.
#pragma once

#include <cstddef>
#include <optional>

#include "nustream/base/units.h"
#include "nustream/ranges/histogram.h"

namespace nustream::ranges {

/// The number of bins: one per half octave from 2^-20 to 2^40, and one in front for shorter lengths.
inline constexpr std::size_t length_bins = 121;
/// The bin of a length ≥ 0. Longer ones belong to the last bin; no_bin where the length is not finite.
[[nodiscard]] std::size_t length_bin(double length) noexcept;
/// The length in the middle of a bin, on a logarithmic scale; 0 for the bin in front.
[[nodiscard]] double bin_length(std::size_t bin) noexcept;

/// Scales from the middle of the distributions. The thresholds cut far quantiles off, where tails are thin.
struct RowScales {
  double inputs;     ///< x₀ = max(q.5, q.9/1.4) of ‖x‖
  double residuals;  ///< r₀ = max(q.5/.6745, q.9/1.645) of |y − xᵀθ_c|
  double tail;       ///< q.99 of |y − xᵀθ_c|, over bins that exceed octave_threshold; 0 where there are none
  double counted;    ///< noisy share of the part's rows in and about the bins that are seen, within [0, 1]
  double counted_stddev;  ///< of the noise in it
  double curvature;       ///< q.9 of the third histogram, or 0 where there is none
};
/// How many standard deviations of its noise a count of lengths must exceed beside counts that are certain. By
/// itself a count must exceed octave_threshold of them, or several neighbouring counts together.
inline constexpr double length_threshold = 3.5;
/// The scales from a release of two or three histograms over the same rows: lengths of inputs, of residuals, and what
/// a row adds to the curvature, as a length. Empty where no bin of one of them is seen.
[[nodiscard]] std::optional<RowScales> row_scales(const NoisyCounts& lengths);

/// How wide the bounds are, f. Their product, by which the noise of the target moments grows, is f·max(2, f/2) times
/// x₀r₀; inputs_multiple() and residuals_multiple() divide it between the two. f is such that the noise of the target
/// moments costs at most about as much as sampling:
///
///     f² = √(t·2ρ_g)·n/(√d·γ²·x₀),  t = d/n,  2 ≤ f ≤ 12,  γ² = 1 for one release.
///
/// Residuals have tails, but the lengths of whitened inputs mostly lie near √d, and the noise of the second moments
/// grows with R_x². So R_x is the narrower one. (With both f times their scale,
/// the squared error was two to three times as large at ρ ≥ .1 on five public tables.)
///
/// `target` is ρ_g, `rows` the n of the release that is bounded, `dimension` d, and `inputs` x₀.
[[nodiscard]] double widening(Rho target, std::uint64_t rows, std::size_t dimension, double inputs);

/// R_x in units of x₀, max(2, √f), and the least R_r in units of r₀, f·max(2, f/2)/max(2, √f), for the f of
/// widening(). In a mean (dimension 1) every input is 1, and R_x is 1.25·x₀.
[[nodiscard]] double inputs_multiple(double widening, std::size_t dimension);
[[nodiscard]] double residuals_multiple(double widening, std::size_t dimension);

/// g, the bound of residuals in a tight sandwich, in units of r₀. It is so wide that under zero-out the noise of one
/// entry is a tenth of n·r₀²:
///
///     g² = .1·n·√(2ρ_s)/(√2 R_x²),  3 ≤ g ≤ R_r/r₀.
///
/// g is below 3 only where R_r/r₀ is. Σ r² makes up for what the bound takes from tails (moments/shape.h).
///
/// `spread` is ρ_s, `rows` is n, `inputs` R_x, and `widest` R_r/r₀.
[[nodiscard]] double tight_widening(Rho spread, std::uint64_t rows, double inputs, double widest);

}  // namespace nustream::ranges
