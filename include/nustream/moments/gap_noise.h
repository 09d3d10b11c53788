// Computes what the noise of all sums does to whatever is solved from them, for other models than the released one
// and for anybody who reads a release.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "nustream/moments/estimate.h"
#include "nustream/moments/normal_equations.h"

namespace nustream::moments {

/// The second moments of the noise in NormalEquations of one target, about their centre θ_c. With the stages' weights
/// w, radii R, ρ = R·(residual's radius), distances δ_s = θ_s − θ_c and covariances M, τ the blocks' σΔ, and A_ij =
/// w_i w_j M_ij τ_H² R_i² R_j²,
///
///     second T = Σ A_ij,   moved m = Σ A_ij δ_i,   spread S = Σ A_ij δ_i δ_jᵀ,
///     target G = Σ w_i w_j M_ij τ_g² ρ_i ρ_j.
///
/// Like the centres, it is a function of public settings, counts and noisy releases.
struct GapNoise {
  double second = 0;           ///< variance of a diagonal entry of the noise of H
  double target = 0;           ///< variance of an entry of the noise of the sums of residuals
  std::vector<double> moved;   ///< d numbers
  std::vector<double> spread;  ///< isometric triangle

  friend bool operator==(const GapNoise&, const GapNoise&) = default;
};
/// The noise of combined(), with the estimate's weights. The design must be of a linear model.
[[nodiscard]] GapNoise gap_noise(const RunningSums& sums, const Frame& frame, std::span<const double> covariance,
                                 const Estimate& estimate);
/// The noise of added(): the parts' noises are independent, and are moved to the first part's centre. There must be
/// as many noises as parts, of matching sizes.
[[nodiscard]] GapNoise added(std::span<const GapNoise> noises, std::span<const NormalEquations> parts);

/// The covariance of the noise of gap − H·away, row-major d × d. It says how far the sums are from a solution at θ_c
/// + away:
///
///     ½((tr S − 2mᵀa + T aᵀa) I + S − maᵀ − amᵀ + T aaᵀ) + G I.
///
/// This holds because for symmetric noise N with unit variance on its diagonal and ½ beside it, Cov(Nu, Nv) = ½((uᵀv)
/// I + v uᵀ).
[[nodiscard]] std::vector<double> noise_covariance(const GapNoise& noise, std::span<const double> away);
/// The same for H·direction alone. With 1 at one feature and minus the coefficients of others, it is about the part
/// of that feature that the others do not explain (for_feature()).
[[nodiscard]] std::vector<double> noise_covariance_of_second(const GapNoise& noise,
                                                             std::span<const double> direction);

/// H⁻¹ Q H⁻¹ of a solution of `equations`, row-major: how far noise may have moved it, to first order. Q consists of
/// the rows and columns `features` (rising) of `covariance`, which is row-major over all inputs. The equations must
/// be of these features, and none of their eigenvalues floored.
[[nodiscard]] std::vector<double> solution_covariance(const NormalEquations& equations,
                                                      std::span<const double> covariance,
                                                      std::span<const std::size_t> features);

}  // namespace nustream::moments
