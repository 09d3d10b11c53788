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
/// Exact for one participation, and where c is non-negative and non-increasing. Otherwise an upper bound
/// (max over participations of Σ_ij |⟨C_i, C_j⟩|) or Unsupported: never the closed form where it is no
/// bound. Throws Unsupported beyond the correlation's horizon.
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
