// What is expected of a descent over a table before any data are read: how much of its start and of its noise the
// last iterate holds, and which clip norm clips nothing. Source: the DP-GD paper (BDE+), Lemmas 2.3 and 2.5.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nustream/descent/schedule.h"
#include "nustream/noise/correlation.h"

namespace nustream::inference {

/// Along one eigenvector of the Hessian, of e_T − ê = start·(e_0 − ê) + noise.
struct LastIterate {
  double start;           ///< Π_t (1 − η_t λ), or what it is with momentum: Lemma 2.3's (1 − ηλ)^T
  double noise_variance;  ///< for z = B w, w of unit variance
};

/// Of v_{t+1} = μ v_t + λ(e_t − ê) + z_t, e_{t+1} = e_t − η_t v_{t+1}, t < `steps`, v_0 = 0: the descent of a
/// quadratic loss where nothing is clipped. Exact. O(steps) for independent noise and a constant step size; for
/// others from B written out, up to 2,048 steps, beyond which it throws Unsupported.
[[nodiscard]] LastIterate last_iterate(const noise::Correlation& correlation, const descent::Schedule& schedule,
                                       double curvature, double momentum, std::uint64_t steps);

/// Its `start` alone. O(steps), or less where the step size is constant.
[[nodiscard]] double start_left(const descent::Schedule& schedule, double curvature, double momentum,
                                std::uint64_t steps);

/// Public guesses of a linear model over a table, working coordinates.
struct TableGuess {
  std::vector<double> eigenvalues;  ///< of E[xxᵀ]
  double residual;                  ///< standard deviation of y − xᵀθ*
  double distance;                  ///< ‖θ* − start‖
  std::uint64_t records;            ///< n
  std::uint64_t steps;              ///< T
};

/// A clip norm γ under which all gradients of all steps are as they are with probability at least 1 − `failure`, for
/// normal rows and residuals and iterates that do not depend on the row they are held against (Condition 2.4 (iv),
/// (v)):
///
///     γ = R·q·√(σ² + λ_max D² + κγ²),   R = √(Σλ) + √(2 λ_max ln(2n/β)),   q = √(2 ln(4nT/β)),
///
/// R over the rows, q over rows and steps, and κ = Σ_j λ_j var_j for the noise variance var_j that one unit of clip
/// norm leaves in direction j of the last iterate. Empty where no γ is enough, since each brings more noise than it
/// lets through: Lemma 2.5's second condition.
[[nodiscard]] std::optional<double> clip_norm_that_clips_nothing(const TableGuess& guess, double kappa,
                                                                 double failure);

}  // namespace nustream::inference
