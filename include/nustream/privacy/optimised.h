// Correlations fitted to the error of prefix sums over a known number of steps. Notation: docs/notation.md.
//
// The loss of a correlation is its own squared sensitivity times its squared error: what is left in a running sum of
// the gradients, in units of (Δ²/2ρ), whatever the scale of B. Everything here is computed with + − × ÷ and √ in a
// fixed order, so that the same problem gives the same coefficients, to the bit, on every machine.
#pragma once

#include <cstddef>
#include <optional>

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"
#include "nustream/privacy/participation.h"

namespace nustream::privacy {

/// Which running sums count. E_t = ‖e_tᵀ A B‖², A the lower triangle of ones: the variance of z_0 + … + z_t in units
/// of the seed noise's.
enum class PrefixError {
  largest,  ///< max_t E_t
  mean      ///< (1/T) Σ_t E_t
};

/// sens²(k, b) · error over T steps.
struct PrefixSums {
  StepCount horizon;            ///< T
  Participation participation;  ///< (k, b)
  PrefixError error;
};

/// Of any correlation that exists for T steps, with its own sensitivity. Throws Unsupported where that is not known,
/// and beyond 2^24 steps but for rational correlations. O(poles² log T) for those, O(T W) for windows of W terms,
/// O(T² bands) for dense ones, O(T³) for trees.
[[nodiscard]] double prefix_sum_loss(const noise::Correlation& correlation, const PrefixSums& problem);

/// No lower-triangular C whatsoever, Toeplitz or not, has a smaller loss for one participation: the value of the
/// dual problem, rounding aside of about 1e-11. Within 1e-6 of the least loss. O(100 T) an iteration, some tens of
/// them. Throws Unsupported for several participations and beyond 20,000 steps.
///
/// Source: Denisov et al. 2022 (the dual and its fixed point); Hale, Higham and Trefethen 2008 (the square root by an
/// integral).
[[nodiscard]] double prefix_sum_loss_bound(const PrefixSums& problem);

/// The Toeplitz C of least loss among those whose first column has at most `bands` entries (empty: T for one
/// participation, else whichever is better of b, with which no two participations meet, and T). A
/// noise::Strategy of T steps, c_0 = 1. Where bands exceed b and records take part several times, among those
/// with c_1 ≥ c_2 ≥ … ≥ 0, whose sensitivity is known.
///
/// For the largest error and one participation of T bands it is ν-FTRL with ν = 0. O(T · bands) an
/// iteration, 10 to 30 of them. Throws InvalidParameter for bands outside 1 … T, Unsupported beyond T · bands = 2^31.
[[nodiscard]] noise::Correlation optimised_toeplitz(const PrefixSums& problem, std::optional<std::size_t> bands = {});

/// The rational ("BLT") correlation of least loss with `poles` poles, 1 … 12, all b_i > 0, that stops at T: recurrent
/// generation at any T. O(poles³ log T + k poles³) an iteration, some hundreds of them, from several starts.
/// Throws InvalidParameter for other numbers of poles, Unsupported for more than 4096 participations.
///
/// Source: Dvijotham et al. 2024 and McMahan et al. 2024 for the closed forms; the parametrisation is our own.
[[nodiscard]] noise::Correlation optimised_rational(const PrefixSums& problem, std::size_t poles);

/// The lower-triangular C of least loss, not Toeplitz, whose columns have the same norm. A noise::Dense of T steps.
///
/// `bands` = T, one participation: the optimum over all C (either error), from the dual's fixed point. Fewer bands,
/// or several participations (empty: then b): columns of equal norm within the band, mean error only; with bands ≤ b
/// no two participations meet (Choquette-Choo et al. 2023, banded matrix factorisation). O(T³) for full bands, O(T²
/// bands) an iteration otherwise, about a hundred of them.
///
/// Throws InvalidParameter for bands outside 1 … T and where noise::Dense does; Unsupported for the largest error
/// where only the mean is fitted.
[[nodiscard]] noise::Correlation optimised_dense(const PrefixSums& problem, std::optional<std::size_t> bands = {});

}  // namespace nustream::privacy
