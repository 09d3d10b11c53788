// AdaSSP: private least squares from noisy sufficient statistics, as a comparator.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/inference/least_squares.h"
#include "nustream/privacy/participation.h"

namespace nustream::inference {

/// A Gaussian release of one number.
struct NoisyNumber {
  double value;
  double stddev;  ///< of its noise
};

/// λ = max(0, √(d ln(2d²/δ')) s − λ̃_min), δ' = .05: how much AdaSSP adds to the diagonal of a noisy d × d matrix
/// whose entries have noise of the standard deviation s (on its diagonal; beside it at most that), so that it is as
/// definite as the noise allows with probability 1 − δ', and nothing where the data make it so. λ̃_min = max(0, v −
/// √(2 ln(6/δ')) s'), v the noisy smallest eigenvalue and s' its own standard deviation. No privacy hangs on δ':
/// post-processing. Source: Wang 2018, Algorithm 2, with the exact standard deviations in place of the (ε, δ) ones.
[[nodiscard]] double adaptive_ridge(std::size_t dimension, double stddev, NoisyNumber smallest_eigenvalue);

/// Public bounds that records are scaled down to.
struct AdaSspBounds {
  double x;  ///< of ‖x‖₂
  double y;  ///< of |y|
};

/// Standard normal numbers that adassp() uses: 1 + d(d + 1)/2 + d.
[[nodiscard]] std::size_t adassp_normals(std::size_t dimension) noexcept;

/// (XᵀX + E_1 + λI)⁻¹(Xᵀy + E_2), λ = adaptive_ridge(), with three Gaussian releases of ρ/3 each: λ_min(XᵀX), the
/// upper triangle of XᵀX, and Xᵀy.
///
/// Displacements (x² = bounds.x²): λ_min x², Xᵀy xy under zero-out; under replace-one x² and 2xy, and for XᵀX √2 x²
/// (‖xxᵀ − x'x'ᵀ‖² = ‖x‖⁴ + ‖x'‖⁴ − 2(xᵀx')² ≤ 2x⁴) instead of x².
///
/// `normals` are fresh secret standard normal numbers. Source: Wang 2018, Algorithm 2; the zCDP accounting is ours.
[[nodiscard]] std::vector<double> adassp(const TableView& table, const AdaSspBounds& bounds, Rho rho,
                                         privacy::Adjacency adjacency, std::span<const double> normals);

}  // namespace nustream::inference
