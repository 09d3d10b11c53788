// AdaSSP: private least squares from noisy sufficient statistics, as a comparator.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/inference/least_squares.h"
#include "nustream/privacy/participation.h"

namespace nustream::inference {

/// Public bounds that records are scaled down to.
struct AdaSspBounds {
  double x;  ///< of ‖x‖₂
  double y;  ///< of |y|
};

/// Standard normal numbers that adassp() uses: 1 + d(d + 1)/2 + d.
[[nodiscard]] std::size_t adassp_normals(std::size_t dimension) noexcept;

/// (XᵀX + E_1 + λI)⁻¹(Xᵀy + E_2), λ = max(0, √(d ln(2d²/δ')) s − λ̃_min), δ' = .05, with three Gaussian
/// releases of ρ/3 each: λ_min(XᵀX), the upper triangle of XᵀX, and Xᵀy. s is the standard deviation of E_1, λ̃_min
/// the noisy smallest eigenvalue less √(2 ln(6/δ')) of its own standard deviation, at least 0.
///
/// Displacements (x² = bounds.x²): λ_min x², Xᵀy xy under zero-out; under replace-one x² and 2xy, and for XᵀX √2 x²
/// (‖xxᵀ − x'x'ᵀ‖² = ‖x‖⁴ + ‖x'‖⁴ − 2(xᵀx')² ≤ 2x⁴) instead of x².
///
/// `normals` are fresh secret standard normal numbers. Source: Wang 2018, Algorithm 2; the zCDP accounting is ours.
[[nodiscard]] std::vector<double> adassp(const TableView& table, const AdaSspBounds& bounds, Rho rho,
                                         privacy::Adjacency adjacency, std::span<const double> normals);

}  // namespace nustream::inference
