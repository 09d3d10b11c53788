// Instrumental variables from running sums: two-stage least squares by way of the reduced form, the strength of the
// instruments, and a set that holds whatever their strength is.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/moments/estimate.h"

namespace nustream::moments {

/// β of [controls, endogenous regressors], where the first `controls` inputs are the controls.
struct Structural {
  std::vector<double> beta;
  /// The effective F of each endogenous regressor's first stage: π̂ᵀV⁻¹π̂/q over the q instruments that are not
  /// controls, where V is the covariance of their coefficients, privacy noise included. Below 10 a Wald interval
  /// would be wrong. Empty where V is not known (floored sums).
  std::vector<double> effective_f{};
  /// Whether V takes the residuals of a regressor to vary as much as their bounds allow, because the sums do not tell
  /// how much they do: its F is then too small.
  bool bounded = false;
};

/// 2SLS: the regression of the fitted target Zπ̂ on controls and fitted regressors ZΠ̂ in the metric H of the sums,
/// (AᵀHA)⁻¹AᵀHπ̂ with A = [controls' unit vectors, Π̂]. Scaling rows by the length of z alone keeps the exclusion
/// restriction; weights that read x or y would break it.
///
/// Empty where an eigenvalue of H is floored, or where the fitted regressors are collinear. Noise in the first stage
/// pulls an over-identified answer towards 0, and with a single instrument it gives the answer the tails of a ratio.
/// Throws InvalidParameter where there are fewer instruments beside the controls than endogenous regressors, or no
/// such regressor.
///
/// Source: Angrist and Pischke 2009, section 4.6; Montiel Olea and Pflueger 2013 (the effective F's idea).
[[nodiscard]] std::optional<Structural> structural(const RunningSums& sums, const Frame& frame,
                                                   std::span<const double> covariance, const Estimate& estimate,
                                                   std::size_t controls, StepCount steps);

/// The same β from the sums alone. `reduced` is the floored solution of `sums`, Π̂ and then π̂.
[[nodiscard]] std::optional<std::vector<double>> two_stage_least_squares(const NormalEquations& sums,
                                                                         const FlooredSolution& reduced,
                                                                         std::size_t controls);

/// The reduced form [Π, π] (inputs × responses, column by column) of a structural model [β, Π] with Π column by
/// column: π = Aβ with the A of structural(). So structural() of it, under any positive definite H, gives β again.
/// Throws InvalidParameter for another number of entries, and for the controls as structural() does.
[[nodiscard]] std::vector<double> reduced_form(const Shape& shape, std::size_t controls,
                                               std::span<const double> parameters);

/// The values of one endogenous regressor's effect that the instruments do not reject.
struct AndersonRubinSet {
  enum class Kind { empty, interval, outside, everything };
  Kind kind;
  double lower, upper;  ///< of interval: [lower, upper]; of outside: everything except (lower, upper)
  /// Whether V takes the residuals to vary as much as their bounds allow, at the best β or at an end of the set,
  /// which is then too wide.
  bool bounded = false;
};

/// {β : δ(β)ᵀ V(β)⁻¹ δ(β) ≤ q·F_{q, m; level}} with δ(β) = π̂ − Π̂β on the q instruments that are no controls. V(β) is
/// their covariance: it includes the privacy noise of H, of the regressor's and of the target's sums, and the
/// sampling of y − xβ. The latter is estimated by the spread, where one is kept; m are the degrees of freedom that
/// noise leaves of this estimate (∞ without noise, and the limit is then that of χ²_q). Where there is no spread, or
/// fewer than 8 degrees are left at β, it is the most that the residuals' bounds allow, whatever it depends on, and m
/// is ∞. The coverage does not depend on the instruments' strength. There must be one endogenous regressor.
///
/// Where privacy noise gives the set several parts, the result is the smallest set of the kinds above that holds all
/// of them. The parts are found by a scan whose steps are 9% of the distance from the best β in angle.
///
/// Empty where an eigenvalue of H is floored. Throws InvalidParameter for several endogenous regressors or a level
/// outside (0, 1).
///
/// Source: Anderson and Rubin 1949.
[[nodiscard]] std::optional<AndersonRubinSet> anderson_rubin(const RunningSums& sums, const Frame& frame,
                                                             std::span<const double> covariance,
                                                             const Estimate& estimate, std::size_t controls,
                                                             StepCount steps, double level);

}  // namespace nustream::moments
