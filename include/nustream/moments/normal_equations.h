// Linear systems from released sums: the floored solution, ridge, subsets of features, another feature as the target.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace nustream::moments {

/// H θ = b for several columns of θ at once, kept about a centre: `gap` = b − Hθ_c. All of it is released or public,
/// so that whatever is computed here is a post-processing.
struct NormalEquations {
  std::size_t dimension = 0;
  std::vector<double> second;  ///< H, isometric triangle (descent/second_moments.h); noise may make it indefinite
  std::vector<double> gap;     ///< dimension × columns, column by column
  std::vector<double> centre;  ///< θ_c, the same

  [[nodiscard]] std::size_t columns() const noexcept { return dimension == 0 ? 0 : gap.size() / dimension; }
};

/// A solution, and what of it is a guess.
struct FlooredSolution {
  std::vector<double> theta;        ///< dimension × columns
  std::size_t floored;              ///< eigenvalues that were raised to the floor, or taken for 0
  std::vector<double> eigenvalues;  ///< of H, rising, before the floor
};

/// θ_c + U diag(1/max(e, λ)) Uᵀ gap, H = U diag(e) Uᵀ: directions in which noise hides H stay near the centre. A
/// floor, not H + λI, which an indefinite H can make singular. With λ = √(2d)·τ, τ the standard deviation of a
/// diagonal entry of H's noise, the noise's length is seldom above λ. Eigenvalues that are also below 1e-10 of the
/// largest one are collinear features: those directions stay at the centre.
///
/// Throws InvalidParameter for a floor that is not a number ≥ 0, and for equations that are not finite.
[[nodiscard]] FlooredSolution solve(const NormalEquations& equations, double floor);

/// (H + penalty·I) θ = b: ridge regression towards 0. Throws InvalidParameter for a penalty that is not ≥ 0 and
/// finite.
[[nodiscard]] NormalEquations with_ridge(const NormalEquations& equations, double penalty);
/// The regression on some of the features alone, by their rising numbers; the others' coefficients are 0. Throws
/// InvalidParameter for numbers that are not rising or not below the dimension.
[[nodiscard]] NormalEquations subset(const NormalEquations& equations, std::span<const std::size_t> features);
/// The sums of several runs over records of their own, as those of one run over all of them: Σ H, and Σ b about the
/// first one's centre. The noise in them adds up as they do. Throws InvalidParameter for none, and for other numbers
/// of features or columns than the first one's.
[[nodiscard]] NormalEquations added(std::span<const NormalEquations> parts);
/// The regression of feature `target` on `features` (rising, without it), from H alone; centre 0.
[[nodiscard]] NormalEquations for_feature(const NormalEquations& equations, std::size_t target,
                                          std::span<const std::size_t> features);

}  // namespace nustream::moments
