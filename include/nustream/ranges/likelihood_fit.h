// Fits a logistic or Poisson model to a whole table without any guess: it finds ranges and a start, and takes steps
// by private curvature.
#pragma once

#include "nustream/ranges/noise_draws.h"
#include "nustream/ranges/table_fit.h"

namespace nustream::ranges {

/// The likelihoods. Each has the link under which the curvature does not depend on the target.
enum class Likelihood {
  logistic,  ///< targets 0 and 1
  poisson    ///< targets ≥ 0
};

/// A logistic fit gives no intervals where its last step is longer than this, in whitened coordinates. A step leaves
/// an error that grows with the square of its length, and no variance tells of that error.
inline constexpr double longest_for_intervals = 0.2;

/// Fits the maximum of the likelihood of the target, given an intercept and the features. A target that the model
/// cannot have (not 0 or 1; below 0) makes its row unusable.
///
/// The stages for columns, lengths and a pilot are those of fit_linear(), each over a part of its own at the whole ρ.
/// The start comes from the pilot's least squares: one step of Newton from the best constant. Where noise hides the
/// mean of counts, it is the constant by a histogram of residuals, or by the size of that noise. Lengths about the
/// start, over a part of their own, give the bounds.
///
/// Then four steps are taken over all rows that are left, at 5, 10, 20 and 65% of ρ. Each releases a noisy curvature
/// and score at the end of the step before, and solves them with eigenvalues floored at √(2d)·τ; TableFit::floored
/// counts the directions that noise hides. For counts the bounds are measured again before the last step, over
/// another part.
///
/// A row counts with the weight v = min(1, R_x²/‖x‖², K/(w‖x‖²)), a function of its inputs and of earlier releases.
/// Where the model holds, the score has mean 0 at the truth under any such weight. Residuals are clipped to R_r. This
/// matters for counts alone, which it biases where their tails are heavy.
///
/// Variances are given for the logistic model alone. They are those of H⁻¹(H + σ²I)H⁻¹ and the first-order part of
/// the curvature's noise, and cover sampling and noise where the model holds. They are withheld where a direction or
/// a label is hidden, and where the last step was not short (longest_for_intervals). For counts they are always
/// withheld, since nothing says that their variance is their mean. They are withheld where the unit is the user, too.
///
/// Guarantee: ρ-zCDP, as for fit_linear(). The releases of the steps over the last part compose to ρ (adaptively; Bun
/// and Steinke 2016, Lemma 2.3). scores.h has the sensitivities of a step.
///
/// Throws InvalidParameter as sizes() does, before `draw` is asked for anything. It goes through the table once at
/// O(n·d²) and copies its targets.
///
/// Source: one-step estimation, Bickel 1975, iterated; scoring, McCullagh and Nelder 1989, section 2.5.
[[nodiscard]] TableFit fit_likelihood(Likelihood likelihood, const Table& table, const FitSettings& settings,
                                      const DrawNoise& draw);

}  // namespace nustream::ranges
