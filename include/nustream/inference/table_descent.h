// Predicts a descent over a table before any data are read: how much of its start and of its noise the last iterate
// holds, and which clip norm clips nothing. Source: the DP-GD paper (BDE+), Lemmas 2.3 and 2.5.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nustream/descent/schedule.h"
#include "nustream/noise/correlation.h"

namespace nustream::inference {

/// The parts of e_T − ê = start·(e_0 − ê) + noise along one eigenvector of the Hessian.
struct LastIterate {
  double start;           ///< Π_t (1 − η_t λ), or its value with momentum: Lemma 2.3's (1 − ηλ)^T
  double noise_variance;  ///< for z = B w, w of unit variance
};

/// The last iterate of v_{t+1} = μ v_t + λ(e_t − ê) + z_t, e_{t+1} = e_t − η_t v_{t+1} for t < `steps`, v_0 = 0: the
/// descent of a quadratic loss where nothing is clipped. It is exact. Takes O(steps) for independent noise and for a
/// constant step size. For others B is written out, up to 2,048 steps; beyond that it throws Unsupported.
[[nodiscard]] LastIterate last_iterate(const noise::Correlation& correlation, const descent::Schedule& schedule,
                                       double curvature, double momentum, std::uint64_t steps);

/// The `start` of last_iterate() alone. O(steps), or less where the step size is constant.
[[nodiscard]] double start_left(const descent::Schedule& schedule, double curvature, double momentum,
                                std::uint64_t steps);

/// Public guesses of a linear model over a table, in working coordinates.
struct TableGuess {
  std::vector<double> eigenvalues;  ///< eigenvalues of E[xxᵀ]
  double residual;                  ///< standard deviation of y − xᵀθ*
  double distance;                  ///< ‖θ* − start‖
  std::uint64_t records;            ///< n
  std::uint64_t steps;              ///< T
};

/// A clip norm γ under which, with probability at least 1 − `failure`, no gradient of any step is clipped. It holds
/// for normal rows and residuals, and for iterates that do not depend on the row they are compared with (Condition
/// 2.4 (iv), (v)); β is `failure`:
///
///     γ = R·q·√(σ² + λ_max D² + κγ²),   R = √(Σλ) + √(2 λ_max ln(2n/β)),   q = √(2 ln(4nT/β)),
///
/// R is over the rows and q over rows and steps. κ = Σ_j λ_j var_j, where var_j is the noise variance that one unit
/// of clip norm leaves in direction j of the last iterate. Empty where no γ is enough, because every γ brings more
/// noise than it lets through: Lemma 2.5's second condition. Throws InvalidParameter where the guess has no
/// eigenvalues, records or steps.
[[nodiscard]] std::optional<double> clip_norm_that_clips_nothing(const TableGuess& guess, double kappa,
                                                                 double failure);

}  // namespace nustream::inference
