// A row's contribution to the running sums, and the exact sums over the rows of one step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nustream/moments/shape.h"
#include "nustream/record/batch.h"

namespace nustream::moments {

/// Public bounds of a stage, in working units.
struct Radii {
  double inputs = 1;      ///< R_x: rows with longer inputs are scaled down
  double regressors = 1;  ///< R_v of ‖x − Πᵀz‖; unused by linear models
  double target = 1;      ///< R_r of |y − xᵀθ_c|

  friend bool operator==(const Radii&, const Radii&) = default;
};
/// Throws InvalidParameter where a radius is outside 2^-100 … 2^100, so that no product of them overflows.
void check(const Radii& radii);

/// 128-bit integers: sums of 2^76 records at the finest grid, so that nothing wraps.
__extension__ typedef __int128 Wide;

/// Spacing of each block's grid, in units of its radius, in the order of blocks(). A block without noise is summed on
/// `exact_spacing`.
using Spacings = std::vector<double>;
inline constexpr double exact_spacing = 0x1p-48;

/// What a contribution's length is multiplied with, so that rounding cannot make it, or the difference of two, longer
/// than the radius allows: 1 − (d + 8)·2^-50 for the floating-point operations, and √(2 Σ_blocks p s²) for
/// truncation to spacings s of p entries. (Truncation shortens every contribution, but not every difference of two.)
[[nodiscard]] double clip_factor(const Design& design, const Spacings& spacings);

/// Sums of integers over the rows of a step. A row (x, y) contributes, with s = min(1, R_x/‖x‖) of its inputs alone,
/// x and all responses scaled by s, and r = clip(s·y − s·xᵀθ_c, ±R_r) (of endogenous regressors: by length, R_v):
///
///     second: xxᵀ/R_x²,   regressors: x vᵀ/(R_x R_v),   target: r·x/(R_x R_r),
///     spread: wwᵀ/groups, w = (v/R_v, r/R_r), groups 2 with regressors and 1 without; or r²xxᵀ/(R_r R_x)²,
///
/// each times clip_factor() and truncated towards zero to its grid: of length at most 1, all at once, whatever the
/// row holds. (The smallest eigenvalue of an adaptive ridge is no sum over rows: see sums().) A row with a number
/// that is not finite contributes zeros, as a row of zeros does; where only targets are private, one whose target
/// alone is not finite keeps the blocks that do not read it.
///
/// Scaling is weighted least squares with weights s², which depend on the inputs alone.
class BatchSums {
 public:
  /// Throws InvalidParameter for another number of spacings than blocks, or a spacing outside [2^-51, 1).
  BatchSums(const Design& design, const Spacings& spacings);

  /// From the next row on. `centre` has shape.coefficients() finite entries: θ_c of the regressors, then of the
  /// target.
  void aim(const Radii& radii, std::span<const double> centre);
  /// All rows of the slice, in order. O(d²) a row; no allocation. A row with a weight w is √w·(x, y).
  void add(const record::RowSlice& rows) noexcept;
  /// What one row alone adds, before it is truncated: its second moments, then its target moments, each of length at
  /// most 1 but for rounding. False for a row that adds zeros. Contract: the design has no other blocks, and
  /// `entries` room for both.
  [[nodiscard]] bool contribution(const double* row, double target, double weight,
                                  std::span<double> entries) noexcept;
  /// Rows whose contributions come by add_units().
  void count(std::uint64_t rows) noexcept { records_ += rows; }
  /// Integers of a block's grid that were summed elsewhere.
  void add_units(Block block, std::span<const std::int64_t> units) noexcept;
  /// To no rows.
  void clear() noexcept;

  [[nodiscard]] std::uint64_t records() const noexcept { return records_; }
  /// The block's sums since clear(), units of its grid. Of Block::eigenvalue: λ_min of the second moments' sum.
  ///
  /// Sensitivity of that: at most 1 (R_x²) under zero-out and under replace-one. With H the other rows' sum, λ_min(H)
  /// ≤ λ_min(H + uuᵀ) ≤ λ_min(H) + ‖u‖² (Weyl), so that two rows in one another's place move it by at most 1, and
  /// what truncation adds to a row is in clip_factor(). It is computed from the integer sums: what the eigenvalue
  /// solver may err by, at most 64 d² n 2⁻⁵³ for n rows, and the truncation to the grid are taken off the scale
  /// before it is truncated.
  [[nodiscard]] std::span<const Wide> sums(Block block);

  /// Rows, since construction, that were scaled down, and whose target's residual was clipped. Operator side only.
  [[nodiscard]] std::uint64_t scaled() const noexcept { return scaled_; }
  [[nodiscard]] std::uint64_t clipped() const noexcept { return clipped_; }

 private:
  struct Part {
    double spacing = 1;
    double units = 0;         // clip factor over spacing
    std::uint64_t whole = 0;  // rows that 64 bits hold
    std::vector<std::int64_t> open;
    std::vector<Wide> sums;
  };

  void add_row(const double* row, double target, double weight) noexcept;
  [[nodiscard]] bool scale_weighted(const double* row, double target, double weight) noexcept;
  [[nodiscard]] bool scale_row(const double* row, double target) noexcept;
  void add_scaled() noexcept;
  [[nodiscard]] double residual(std::size_t response, double value, double scale) const noexcept;
  void flush() noexcept;
  void take_eigenvalue();
  [[nodiscard]] Part& part(Block block) noexcept { return parts_[static_cast<std::size_t>(block)]; }

  Design design_;
  std::array<Part, block_kinds> parts_;
  Radii radii_;
  std::vector<double> centre_;
  std::vector<double> inputs_;     // x·s/R_x
  std::vector<double> residuals_;  // w
  std::vector<double> weighted_;   // √weight times a row
  std::uint64_t unflushed_ = 0;
  std::uint64_t whole_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t scaled_ = 0;
  std::uint64_t clipped_ = 0;
};

}  // namespace nustream::moments
