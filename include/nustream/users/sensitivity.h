// How far one user can move the encoded gradients C·G, in units of Δ. Notation: docs/notation.md.
#pragma once

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"
#include "nustream/privacy/participation.h"
#include "nustream/privacy/zcdp.h"
#include "nustream/users/limits.h"

namespace nustream::users {

/// The largest ‖Σ_t C e_t x_tᵀ‖ over all contributions x_t that the limits allow, with ‖x_t‖ ≤ 1 in units of a step's
/// bound. C = B⁻¹ of the very B that the generators draw from. The result is dimensionless; times Δ it is in gradient
/// units.
///
/// Guarantee, for every correlation and every number of coordinates:
///
/// - (k, b): privacy::sensitivity() of the steps in which the user contributes, with the guarantee of that function:
///   exact for k = 1 and where c is non-negative and does not increase, and an upper bound otherwise. The gate keeps
///   those steps b apart, and the sum of a user's records in a step is clipped to the bound, so that a step counts
///   once.
/// - mass: W·max_t ‖C e_t‖, since ‖Σ C e_t x_tᵀ‖ ≤ Σ ‖x_t‖ ‖C e_t‖ ≤ W·max ‖C e_t‖ by the triangle inequality,
///   whatever the pattern is. It is exact where W ≤ 1, as all of W in the worst step reaches it. Where W > 1 it is an
///   upper bound, because every step takes at most 1.
/// - both: the lesser of the two, as each of them is a bound.
///
/// Zero-out takes all of a user's contributions away: Δ = G. Replace-one puts in their place those of a user who is
/// not otherwise in the stream, at whatever steps. That makes two such sums, so Δ = 2G by the triangle inequality
/// (privacy::displacement()).
///
/// Throws as privacy::sensitivity() does.
///
/// Source: CDP+ Theorem 1.1; Kalinin and Lampert 2024, Theorem 2 (several participations).
[[nodiscard]] Sensitivity sensitivity(const noise::Correlation& correlation, StepCount steps, const Limits& limits);
/// The same over all steps that the correlation allows. Throws as privacy::sensitivity_limit() does.
[[nodiscard]] Sensitivity sensitivity_limit(const noise::Correlation& correlation, const Limits& limits);

/// What the worst user has spent, as a function of the public number of steps of one mechanism. It follows from
/// sensitivity() over those steps.
[[nodiscard]] privacy::Spend spend(const noise::Correlation& correlation, const Limits& limits,
                                   NoiseMultiplier sigma);

}  // namespace nustream::users
