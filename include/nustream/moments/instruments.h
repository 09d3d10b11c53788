// Instrumental variables from running sums: two-stage least squares by way of the reduced form, how strong the
// instruments are, and a set that holds whatever their strength.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/moments/estimate.h"

namespace nustream::moments {

/// β of [controls, endogenous regressors]: the first `controls` inputs are controls.
struct Structural {
  std::vector<double> beta;
  /// Effective F of each endogenous regressor's first stage: π̂ᵀV⁻¹π̂/q over the q instruments that are no controls, V
  /// the covariance of their coefficients, privacy noise included: below 10 a Wald interval would be wrong. Empty
  /// where V is not known (floored sums, no spread, no recentred stage).
  std::vector<double> effective_f;
};

/// 2SLS: the regression of the fitted target Zπ̂ on controls and fitted regressors ZΠ̂ in the metric H of the sums,
/// (AᵀHA)⁻¹AᵀHπ̂, A = [controls' unit vectors, Π̂]. Scaling by the length of z alone keeps the exclusion restriction:
/// weights that read x or y break it.
///
/// Empty where an eigenvalue of H is floored, or the fitted regressors are collinear. Noise in the first stage pulls
/// an over-identified answer towards 0, and gives one instrument's answer the tails of a ratio.
///
/// Source: Angrist and Pischke 2009, section 4.6; Montiel Olea and Pflueger 2013 (the effective F's idea).
[[nodiscard]] std::optional<Structural> structural(const RunningSums& sums, const Frame& frame,
                                                   std::span<const double> covariance, const Estimate& estimate,
                                                   std::size_t controls, StepCount steps);

/// The same β from the sums alone: `reduced` is the floored solution of `sums`, Π̂ and then π̂.
[[nodiscard]] std::optional<std::vector<double>> two_stage_least_squares(const NormalEquations& sums,
                                                                         const FlooredSolution& reduced,
                                                                         std::size_t controls);

/// The reduced form [Π, π] (inputs × responses, column by column) of a structural model [β, Π], Π column by column:
/// π = Aβ with structural()'s A, so that structural() of it, under any positive definite H, is β again. Throws
/// InvalidParameter for another number of entries, and as structural() for controls.
[[nodiscard]] std::vector<double> reduced_form(const Shape& shape, std::size_t controls,
                                               std::span<const double> parameters);

/// Values of one endogenous regressor's effect that the instruments do not reject.
struct AndersonRubinSet {
  enum class Kind { empty, interval, outside, everything };
  Kind kind;
  double lower, upper;  ///< of interval: [lower, upper]; of outside: everything but (lower, upper)
};

/// {β : δ(β)ᵀ V(β)⁻¹ δ(β) ≤ χ²_{q, level}}, δ(β) = π̂ − Π̂β on the q instruments that are no controls, V(β) their
/// covariance with the privacy noise of H, of the regressor's and of the target's sums and, by the spread, the
/// sampling of y − xβ. Its coverage does not depend on the instruments' strength. One endogenous regressor. Where
/// privacy noise gives the set several parts, it is the smallest set of the kinds above that holds all of them, as a
/// scan finds them whose steps are 9% of the distance from the best β in angle.
///
/// Nothing where V is not known. Source: Anderson and Rubin 1949.
[[nodiscard]] std::optional<AndersonRubinSet> anderson_rubin(const RunningSums& sums, const Frame& frame,
                                                             std::span<const double> covariance,
                                                             const Estimate& estimate, std::size_t controls,
                                                             StepCount steps, double level);

}  // namespace nustream::moments
