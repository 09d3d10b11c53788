// Linear systems from released sums: the floored solution, ridge, subsets of features, and another feature as the
// target.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace nustream::moments {

/// H θ = b for several columns of θ at once, kept about a centre: `gap` = b − Hθ_c. All of it is released or public,
/// so whatever is computed here is a post-processing.
struct NormalEquations {
  std::size_t dimension = 0;
  std::vector<double> second;  ///< H, isometric triangle (descent/second_moments.h); noise may make it indefinite
  std::vector<double> gap;     ///< dimension × columns, column by column
  std::vector<double> centre;  ///< θ_c, in the same order

  [[nodiscard]] std::size_t columns() const noexcept { return dimension == 0 ? 0 : gap.size() / dimension; }
};

/// A solution, and which part of it is a guess.
struct FlooredSolution {
  std::vector<double> theta;        ///< dimension × columns
  std::size_t floored;              ///< how many eigenvalues were raised to the floor, or taken for 0
  std::vector<double> eigenvalues;  ///< of H, rising, before the floor
};

/// θ_c + U diag(1/max(e, λ)) Uᵀ gap, where H = U diag(e) Uᵀ: directions in which noise hides H stay near the centre.
/// The floor λ is used instead of H + λI, which an indefinite H can make singular. With λ = √(2d)·τ, τ the standard
/// deviation of a diagonal entry of H's noise, the spectral norm of the noise is seldom above λ. Eigenvalues that are
/// also below 1e-10 of the largest one belong to collinear features, and those directions stay at the centre.
///
/// Throws InvalidParameter for a floor that is not a number ≥ 0, and for equations that are not finite.
[[nodiscard]] FlooredSolution solve(const NormalEquations& equations, double floor);

/// (H + penalty·I) θ = b, which is ridge regression towards 0. Throws InvalidParameter for a penalty that is not
/// finite and ≥ 0.
[[nodiscard]] NormalEquations with_ridge(const NormalEquations& equations, double penalty);
/// The regression on some of the features alone, which are given by their rising numbers; the coefficients of the
/// others are 0. Throws InvalidParameter for no numbers, and for numbers that are not rising or not below the
/// dimension.
[[nodiscard]] NormalEquations subset(const NormalEquations& equations, std::span<const std::size_t> features);
/// The sums of several runs over different records as if they came from one run over all of them: Σ H, and Σ b about
/// the first one's centre. Their noises add up likewise. Throws InvalidParameter for no parts, and for parts with
/// other numbers of features or columns than the first one.
[[nodiscard]] NormalEquations added(std::span<const NormalEquations> parts);
/// The regression of feature `target` on `features` (rising, without the target), from H alone; its centre is 0.
/// Throws InvalidParameter for other numbers.
[[nodiscard]] NormalEquations for_feature(const NormalEquations& equations, std::size_t target,
                                          std::span<const std::size_t> features);

}  // namespace nustream::moments
