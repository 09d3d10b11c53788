// How the residuals of regressors and target vary and covary in a model with instruments. The strength of the
// instruments and the Anderson–Rubin set need this beside the privacy noise.
#pragma once

#include <Eigen/Core>

#include <optional>
#include <span>

#include "nustream/base/units.h"
#include "nustream/moments/estimate.h"

namespace nustream::moments {

/// What a spread of residuals r of the responses adds to the covariance of Σ_k a_k θ̂_k by sampling.
///
/// It is estimated where Σ rrᵀ is kept (Spread::residuals). Recentred stages give it as it is. Where there is none
/// yet, the residuals r₀ about the start give it by way of Σ rrᵀ = Σ r₀r₀ᵀ − DᵀG − GᵀD + DᵀHD with D = θ̂ − θ₀, which
/// holds exactly for what is solved: the clipped residuals.
///
/// Otherwise, and along an a of which noise leaves the estimate fewer than 8 degrees of freedom, it is bounded: a
/// clipped residual lies within ±R, so that its variance given z is at most R², whatever it depends on (Popoviciu
/// 1935). The bound of a combination is Σ |a_k| R_k.
struct ResponseSpread {
  struct Estimated {
    Eigen::MatrixXd square;     ///< Σ rrᵀ, weighted as the sums are
    Eigen::VectorXd bounds;     ///< in units of which `variance` is
    double variance;            ///< of the noise of aᵀ(Σ rrᵀ)a, at most, for Σ (a_k bounds_k)² = 1
    Eigen::MatrixXd of_square;  ///< the covariance for aᵀ(Σ rrᵀ)a = 1
  };
  std::optional<Estimated> estimated;
  Eigen::VectorXd bounds;    ///< R
  Eigen::MatrixXd of_bound;  ///< the covariance for Σ |a_k| R_k = 1

  /// Degrees of freedom of the estimate along a; ∞ where the spread is bounded, or has no noise.
  [[nodiscard]] double degrees(const Eigen::VectorXd& a) const;
  [[nodiscard]] bool is_bounded(const Eigen::VectorXd& a) const;
  [[nodiscard]] Eigen::MatrixXd sampling(const Eigen::VectorXd& a) const;
};

/// The spread as far as the sums tell. There must be endogenous regressors. Empty where an eigenvalue of H is
/// floored.
[[nodiscard]] std::optional<ResponseSpread> response_spread(const RunningSums& sums, const Frame& frame,
                                                            std::span<const double> covariance,
                                                            const Estimate& estimate, StepCount steps);

}  // namespace nustream::moments
