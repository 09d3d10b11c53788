// How far one unit can move the encoded gradients C·G, in units of Δ. Notation: docs/notation.md.
#pragma once

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"
#include "nustream/privacy/participation.h"

namespace nustream::privacy {

/// Sensitivity over `steps` ≥ 1 steps of the encoder C = B⁻¹ of `correlation`. B is the very one that the
/// generators draw from, so that no caller can pair one B's noise with another B's sensitivity.
///
/// Returns the largest ‖Σ_{t ∈ π} C e_t‖₂ over the participations π that `participation` allows. The result is
/// dimensionless; times Δ it is in gradient units.
///
/// The result is exact for one participation, and where c is non-negative and non-increasing, since the earliest,
/// evenly spaced participations are then the worst ones. It is enough that c falls from c_1 on: rational
/// correlations with poles of the user's own may have c_1 > c_0.
///
/// Otherwise the result is an upper bound. It applies the same formula to the envelope max_{s≥t} |c_s|, t ≥ 1,
/// which bounds Σ_ij |⟨C_i, C_j⟩| of every participation. Where c falls, the envelope is c itself.
///
/// For trees it is Σ over completed nodes of (participations below the node)². That is exact while ⌈T/b⌉ ≤ 64 and
/// there are at most 4096 trees, and an upper bound beyond these sizes.
///
/// Results are rounded up, so that they hold for the rounded coefficients that generate the noise. The margin is a
/// few 1e-16 for closed forms, about 1e-13 for exact ν beyond 10⁵ steps, 16 m u·min(T, 1/(1 − q)) for a rational
/// correlation, and the error bound of the series inverse for windows and strategies.
///
/// The computation is in src/privacy/encoder_norm.cpp, which chooses the encoder of the family
/// (src/privacy/encoders.h).
///
/// Throws Unsupported beyond the correlation's horizon, and where no bound is known (a window that does not decay,
/// or a table of more than 2^26 steps). Throws InvalidParameter for 0 steps.
///
/// Source: CDP+ Theorem 1.1; Kalinin and Lampert 2024, Theorem 2 (several participations); Kairouz et al.
/// 2021 (trees).
[[nodiscard]] Sensitivity sensitivity(const noise::Correlation& correlation, StepCount steps,
                                      const Participation& participation);

/// The supremum of sensitivity() over all numbers of steps that the correlation and the participation allow: its
/// value at the horizon where there is one, else its limit for T → ∞. Where no closed form is known (windows) it
/// is an upper bound, rounded outward. Throws Unsupported where it is infinite or no bound is known.
[[nodiscard]] Sensitivity sensitivity_limit(const noise::Correlation& correlation,
                                            const Participation& participation);

}  // namespace nustream::privacy
