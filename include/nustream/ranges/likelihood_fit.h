// A logistic or Poisson model of a whole table, with nothing to guess: ranges, a start, and steps by private
// curvature.
#pragma once

#include "nustream/ranges/noise_draws.h"
#include "nustream/ranges/table_fit.h"

namespace nustream::ranges {

/// Which likelihood: both have the link under which the curvature does not depend on the target.
enum class Likelihood {
  logistic,  ///< targets 0 and 1
  poisson    ///< targets ≥ 0
};

/// Fits the maximum of the likelihood of the target given an intercept and the features. A target that the model does
/// not have (not 0 or 1; below 0) makes its row unusable.
///
/// Stages: columns, lengths and a pilot as fit_linear() has them, each over a part of its own at the whole ρ. From
/// the pilot's least squares comes the start: one step of Newton from the best constant. Lengths about it, over a
/// part of their own, give the bounds. Then four steps over all that is left, at 5, 10, 20 and 65% of ρ: each
/// releases noisy curvature and score at the last step's end and solves them, eigenvalues floored at √(2d)·τ;
/// directions that noise hides are counted in TableFit::floored. For counts the bounds are measured again before the
/// last step, over another part.
///
/// A row counts with the weight v = min(1, R_x²/‖x‖², K/(w‖x‖²)), a function of its inputs and of earlier releases:
/// where the model holds, the score has mean 0 at the truth under any such weight. Residuals are clipped to R_r (of
/// counts alone: that biases where their tails are heavy).
///
/// Variances (logistic alone) are of H⁻¹(H + σ²I)H⁻¹ and the first-order part of the curvature's noise: sampling and
/// noise, where the model holds. They are withheld where a direction is hidden or the last step was long
/// (is_settled); of counts always, since nothing says that their variance is their mean.
///
/// Guarantee: ρ-zCDP as fit_linear() has it; the steps' releases over the last part compose (adaptively; Bun and
/// Steinke 2016, Lemma 2.3) to ρ. A step's sensitivities: scores.h.
///
/// Throws InvalidParameter as sizes() does, before `draw` is asked for anything. O(n·d²) once over the table, and a
/// copy of its targets.
///
/// Source: one-step estimation, Bickel 1975, iterated; scoring, McCullagh and Nelder 1989, section 2.5.
[[nodiscard]] TableFit fit_likelihood(Likelihood likelihood, const Table& table, const FitSettings& settings,
                                      const DrawNoise& draw);

}  // namespace nustream::ranges
