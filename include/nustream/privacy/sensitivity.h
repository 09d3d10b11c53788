// How far one unit can move the encoded gradients C·G, in units of Δ. Notation: docs/notation.md.
#pragma once

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"
#include "nustream/privacy/participation.h"

namespace nustream::privacy {

/// Sensitivity of the encoder C = B⁻¹ of `correlation` over `steps` ≥ 1 steps: of the very B that the
/// generators draw from, so that no caller can pair one B's noise with another's sensitivity.
///
/// Returns the largest ‖Σ_{t ∈ π} C e_t‖₂ over the participations π that `participation` allows:
/// dimensionless; times Δ it is in gradient units.
///
/// Exact for one participation, and where c is non-negative and non-increasing (from c_1 on is enough: rational
/// correlations from user-given poles may have c_1 > c_0): the worst case is then the earliest, evenly spaced one.
/// Otherwise an upper bound: the same formula for the envelope max_{s≥t} |c_s|, t ≥ 1, which is c itself where c
/// falls, and which bounds Σ_ij |⟨C_i, C_j⟩| of every participation. Trees: Σ over completed nodes of (participations
/// below the node)², exact while ⌈T/b⌉ ≤ 64 and there are at most 4096 trees, beyond that an upper bound.
///
/// Rounded up: by a few 1e-16 for closed forms, about 1e-13 for exact ν beyond 10⁵ steps; for a rational correlation
/// by 16 m u·min(T, 1/(1 − q)), for windows and strategies by the error bound of their series inverse, all so that
/// the coefficients that generate the noise are covered as they are rounded.
///
/// Throws Unsupported beyond the correlation's horizon, and where no bound is at hand (a window that does not decay,
/// a table of more than 2^26 steps); InvalidParameter for no steps.
///
/// Source: CDP+ Theorem 1.1; Kalinin and Lampert 2024, Theorem 2 (several participations); Kairouz et al.
/// 2021 (trees).
[[nodiscard]] Sensitivity sensitivity(const noise::Correlation& correlation, StepCount steps,
                                      const Participation& participation);

/// The supremum over all numbers of steps that the correlation and the participation allow: at the horizon
/// where there is one, else the limit for T → ∞. An upper bound, rounded outward, where no closed form is
/// known (windows). Throws Unsupported where it is infinite or no bound is at hand.
[[nodiscard]] Sensitivity sensitivity_limit(const noise::Correlation& correlation,
                                            const Participation& participation);

}  // namespace nustream::privacy
