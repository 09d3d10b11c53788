// Fits correlations to the error of prefix sums over a known number of steps. Notation: docs/notation.md.
//
// The loss of a correlation is its own squared sensitivity times its squared error. Scaling B scales the one up
// and the other down, so the loss does not depend on the scale: it is the variance that a running sum of gradients
// is left with, in units of Δ²/(2ρ). Everything here is computed with + − × ÷ and √ in a fixed order, so that the
// same problem gives the same coefficients, to the bit, on every machine.
#pragma once

#include <cstddef>
#include <optional>

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"
#include "nustream/privacy/participation.h"

namespace nustream::privacy {

/// Which running sums count towards the error. E_t = ‖e_tᵀ A B‖², with A the lower triangle of ones, is the
/// variance of z_0 + … + z_t in units of the seed noise's variance.
enum class PrefixError {
  largest,  ///< max_t E_t
  mean      ///< (1/T) Σ_t E_t
};

/// The problem that a correlation is fitted to: the loss is sens²(k, b) times the error over T steps.
struct PrefixSums {
  StepCount horizon;            ///< T
  Participation participation;  ///< (k, b)
  PrefixError error;
};

/// The loss of any correlation that exists for T steps, with the correlation's own sensitivity. Takes O(poles² log
/// T) for rational correlations, O(T W) for windows of W terms, O(T² bands) for dense ones and O(T³) for trees.
///
/// Throws Unsupported where the sensitivity is not known, and beyond 2^24 steps unless the correlation is
/// rational.
[[nodiscard]] double prefix_sum_loss(const noise::Correlation& correlation, const PrefixSums& problem);

/// A lower bound of the loss, for one participation, that holds for every lower-triangular C, Toeplitz or not. It
/// is the value of the dual problem, up to rounding of about 1e-11, and lies within 1e-6 of the least loss. Some
/// tens of iterations of O(100 T) each are needed. Throws Unsupported for several participations and beyond 20,000
/// steps.
///
/// Source: Denisov et al. 2022 (the dual and its fixed point); Hale, Higham and Trefethen 2008 (the square root by an
/// integral).
[[nodiscard]] double prefix_sum_loss_bound(const PrefixSums& problem);

/// The Toeplitz C of least loss whose first column has at most `bands` entries, as a noise::Strategy of T steps
/// with c_0 = 1. If `bands` is empty, it is T for one participation; for several, both b and T are tried and the
/// better one is taken (with b bands no two participations meet).
///
/// Where `bands` exceeds b and records take part several times, only columns with c_1 ≥ c_2 ≥ … ≥ 0 are
/// considered, since the sensitivity of others is not known. For the largest error and one participation, the
/// answer with T bands is ν-FTRL with ν = 0. There are 10 to 30 iterations of O(T · bands) each.
///
/// Throws InvalidParameter for bands outside 1 … T, and Unsupported where T · bands exceeds 2^31.
[[nodiscard]] noise::Correlation optimised_toeplitz(const PrefixSums& problem, std::optional<std::size_t> bands = {});

/// The rational ("BLT") correlation of least loss with 1 … 12 `poles` and all b_i > 0. It stops at T, and its
/// noise is generated recurrently at any T. The search starts from several places; it takes some hundreds of
/// iterations of O(poles³ log T + k poles³) each.
///
/// Throws InvalidParameter for other numbers of poles, Unsupported for more than 4096 participations.
///
/// Source: Dvijotham et al. 2024 and McMahan et al. 2024 for the closed forms; the parametrisation is our own.
[[nodiscard]] noise::Correlation optimised_rational(const PrefixSums& problem, std::size_t poles);

/// The lower-triangular C of least loss among those whose columns all have the same norm. C need not be Toeplitz;
/// the result is a noise::Dense of T steps.
///
/// With `bands` = T and one participation this is the optimum over all C, for either error, from the fixed point
/// of the dual problem in O(T³). With fewer bands, or with several participations, the columns have equal norms
/// within the band and only the mean error is fitted, in about a hundred iterations of O(T² bands). If `bands` is
/// empty and records take part several times, it is b: with bands ≤ b no two participations meet (Choquette-Choo
/// et al. 2023, banded matrix factorisation).
///
/// Throws InvalidParameter for bands outside 1 … T and where noise::Dense does, and Unsupported for the largest
/// error in those cases where only the mean is fitted.
[[nodiscard]] noise::Correlation optimised_dense(const PrefixSums& problem, std::optional<std::size_t> bands = {});

}  // namespace nustream::privacy
