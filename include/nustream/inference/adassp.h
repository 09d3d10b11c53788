// AdaSSP: private least squares from noisy sufficient statistics. It serves as a comparator.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/inference/least_squares.h"
#include "nustream/privacy/participation.h"

namespace nustream::inference {

/// The Gaussian release of one number.
struct NoisyNumber {
  double value;
  double stddev;  ///< standard deviation of its noise
};

/// λ = max(0, √(d ln(2d²/δ')) s − λ̃_min) with δ' = .05: how much AdaSSP adds to the diagonal of a noisy d × d
/// matrix. The noise of the matrix has the standard deviation s on the diagonal, and at most s elsewhere. With
/// probability 1 − δ' the sum is as definite as the noise allows, and nothing is added where the data alone make it
/// so. λ̃_min = max(0, v − √(2 ln(6/δ')) s'), where v is the noisy smallest eigenvalue and s' the standard deviation
/// of its noise. Privacy does not depend on δ', as this is post-processing.
///
/// Source: Wang 2018, Algorithm 2, with the exact standard deviations in place of the (ε, δ) ones.
[[nodiscard]] double adaptive_ridge(std::size_t dimension, double stddev, NoisyNumber smallest_eigenvalue);

/// The public bounds that records are scaled down to.
struct AdaSspBounds {
  double x;  ///< bound of ‖x‖₂
  double y;  ///< bound of |y|
};

/// How many standard normal numbers adassp() uses: 1 + d(d + 1)/2 + d.
[[nodiscard]] std::size_t adassp_normals(std::size_t dimension) noexcept;

/// (XᵀX + E_1 + λI)⁻¹(Xᵀy + E_2) with λ = adaptive_ridge(). There are three Gaussian releases of ρ/3 each:
/// λ_min(XᵀX), the upper triangle of XᵀX, and Xᵀy.
///
/// The displacements under zero-out are x² for λ_min and XᵀX and xy for Xᵀy, with x = bounds.x and y = bounds.y.
/// Under replace-one they are x² for λ_min, √2 x² for XᵀX (‖xxᵀ − x'x'ᵀ‖² = ‖x‖⁴ + ‖x'‖⁴ − 2(xᵀx')² ≤ 2x⁴), and 2xy
/// for Xᵀy.
///
/// `normals` are fresh, secret standard normal numbers.
///
/// Source: Wang 2018, Algorithm 2; the zCDP accounting is ours.
[[nodiscard]] std::vector<double> adassp(const TableView& table, const AdaSspBounds& bounds, Rho rho,
                                         privacy::Adjacency adjacency, std::span<const double> normals);

}  // namespace nustream::inference
