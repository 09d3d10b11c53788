// The encoder of a finite β: its series inverse, with a proven bound of the entries beyond those that are
// computed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "numeric_encoder.h"

namespace nustream::privacy {

/// The largest r > 1 that was found with Σ_{t≥1} |β_t| r^t ≤ 1, where the sum is rounded outward. Empty where
/// there is no such r, that is unless Σ_{t≥1} |β_t| is below 1 by more than rounding.
[[nodiscard]] std::optional<double> certified_growth(const std::vector<double>& beta);

/// The column c = 1/β with its error bounds. It has `most_steps` entries, or only so many that the rest, even
/// `times` times over, has a norm of about 1e-15. Throws Unsupported where there is neither a certified tail nor a
/// number of steps that can be computed, and where β is so ill-conditioned that the bound would mean nothing.
///
/// Tail: c_t = −Σ_s β_s c_{t−s}. With Σ|β_s| r^s ≤ 1, |c_t| r^t is at most the largest |c_j| r^j of the W − 1
/// entries before t. By induction it is therefore at most the largest of the last W − 1 entries that were
/// computed.
///
/// Rounding: the computed ĉ satisfies Σ_s β_s ĉ_{t−s} = [t = 0] + δ_t with |δ_t| ≤ κ Σ_{s≥1} |β_s ĉ_{t−s}|, where
/// κ is the error of one dot product. So ĉ − c = c ∗ δ, and ‖δ‖ ≤ κ s ‖ĉ‖ in either norm, with s = Σ_{t≥1}|β_t|.
/// If ζ = κ s ‖ĉ‖₁ < 1, then ‖ĉ − c‖₂ ≤ ‖ĉ‖₂ ζ/(1 − ζ). The same holds for the first entries of c alone.
[[nodiscard]] EncoderColumn window_column(const std::vector<double>& beta, std::optional<StepCount> most_steps,
                                          std::uint64_t times);

}  // namespace nustream::privacy
