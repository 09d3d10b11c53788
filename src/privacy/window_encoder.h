// The encoder of a finite β: its own series inverse, with a proven bound of what lies beyond the computed terms.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "numeric_encoder.h"

namespace nustream::privacy {

/// The largest r found with Σ_{t≥1} |β_t| r^t ≤ 1, evaluated with outward rounding; empty unless r > 1, that is
/// unless Σ_{t≥1} |β_t| < 1 by more than rounding.
[[nodiscard]] std::optional<double> certified_growth(const std::vector<double>& beta);

/// c = 1/β with its error bounds. Computes `most_steps` entries, or only so many that what is left, even
/// `times` times over, has a norm of about 1e-15. Throws Unsupported where there is neither a certified tail nor a
/// number of steps that can be computed, or where β is too ill-conditioned for the bound to mean anything.
///
/// Tail: c_t = −Σ_s β_s c_{t−s}. With Σ|β_s| r^s ≤ 1, |c_t| r^t is at most the largest |c_j| r^j of the W − 1
/// entries before t, so by induction of the last W − 1 entries computed.
///
/// Rounding: the computed ĉ has Σ_s β_s ĉ_{t−s} = [t = 0] + δ_t with |δ_t| ≤ κ Σ_{s≥1} |β_s ĉ_{t−s}|, κ the error of
/// one dot product. So ĉ − c = c ∗ δ, ‖δ‖ ≤ κ s ‖ĉ‖ with s = Σ_{t≥1}|β_t| in either norm, and with
/// ζ = κ s ‖ĉ‖₁ < 1: ‖ĉ − c‖₂ ≤ ‖ĉ‖₂ ζ/(1 − ζ). This holds for any first entries alone, too.
[[nodiscard]] EncoderColumn window_column(const std::vector<double>& beta, std::optional<StepCount> most_steps,
                                          std::uint64_t times);

}  // namespace nustream::privacy
