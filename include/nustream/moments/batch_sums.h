// What one row contributes to the running sums, and the exact sums over the rows of one step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nustream/descent/packed.h"
#include "nustream/moments/shape.h"
#include "nustream/record/batch.h"

namespace nustream::moments {
namespace kernel {
struct Variant;
}

/// The public bounds of a stage, in working units.
struct Radii {
  double inputs = 1;        ///< R_x: longer inputs are scaled down to this length
  double regressors = 1;    ///< R_v, bound of ‖x − Πᵀz‖; unused by linear models
  double target = 1;        ///< R_r, bound of |y − xᵀθ_c|
  double tight_target = 1;  ///< R̃_r of a tight sandwich

  friend bool operator==(const Radii&, const Radii&) = default;
};
/// Throws InvalidParameter where a radius is outside 2^-100 … 2^100; within these limits no product of radii
/// overflows.
void check(const Radii& radii);

/// 128-bit integers. They hold the sums of 2^76 records on the finest grid, so nothing wraps.
__extension__ typedef __int128 Wide;

/// The spacing of each block's grid, in units of its radius and in the order of blocks(). A block without noise is
/// summed on `exact_spacing`.
using Spacings = std::vector<double>;
inline constexpr double exact_spacing = 0x1p-48;

/// The factor that every contribution is multiplied with, so that rounding can make neither a contribution, nor the
/// difference of two, longer than the radius allows. It leaves (d + 8)·2^-50 for the floating-point operations, and
/// √(2 Σ_blocks p s²) for truncation to spacings s of p entries. (Truncation shortens every contribution, but not
/// every difference of two.)
[[nodiscard]] double clip_factor(const Design& design, const Spacings& spacings);

/// The sums of integers over the rows of a step. Let s = min(1, R_x/‖x‖) be computed from the inputs of a row (x, y)
/// alone, and scale x and all responses by s. With r = clip(s·y − s·xᵀθ_c, ±R_r), and v the residuals of endogenous
/// regressors clipped by length to R_v, the row contributes
///
///     second: xxᵀ/R_x²,   regressors: x vᵀ/(R_x R_v),   target: r·x/(R_x R_r),
///     spread: wwᵀ/groups, w = (v/R_v, r/R_r), groups 2 with regressors and 1 without; or r²xxᵀ/(R_r R_x)²,
///
/// each times clip_factor() and truncated towards zero to its grid. Every part has a length of at most 1, all at
/// once, whatever the row holds. (The smallest eigenvalue of an adaptive ridge is not a sum over rows: see sums().)
/// A tight sandwich is (r̃²xxᵀ/(R̃_r R_x)², r²/R_r²)/√2, with r̃ = clip(r, ±R̃_r).
///
/// A row with a number that is not finite contributes zeros, as a row of zeros does. The exception is a row whose
/// target alone is not finite, where only targets are private: it keeps the blocks that do not read the target.
///
/// Scaling by s is weighted least squares with weights s², which depend on the inputs alone.
class BatchSums {
 public:
  /// Throws InvalidParameter where there are not as many spacings as blocks, or a spacing is outside [2^-51, 1).
  BatchSums(const Design& design, const Spacings& spacings);

  /// Sets the radii and the centre from the next row on. `centre` has shape.coefficients() entries within ±2^100: θ_c
  /// of the regressors, then that of the target. Each input is first divided by its entry of `scales`, powers of two
  /// within 2^±100, or by nothing where `scales` is empty; radii and centre are in the units that come out. The
  /// division is a public map of the row alone: whatever it gives is scaled down to R_x afterwards.
  void aim(const Radii& radii, std::span<const double> centre, std::span<const double> scales = {});
  /// Adds all rows of the slice, in order. O(d²) for each row; no allocation. A row with a weight w counts as √w·(x,
  /// y).
  void add(const record::RowSlice& rows) noexcept;
  /// Writes what one row alone adds, before truncation: its second moments, then its target moments, each of a length
  /// of at most 1 except for rounding. Returns false for a row that adds zeros. The design must have no other blocks,
  /// and `entries` must have room for both.
  [[nodiscard]] bool contribution(const double* row, double target, double weight,
                                  std::span<double> entries) noexcept;
  /// Counts rows whose contributions come by add_units().
  void count(std::uint64_t rows) noexcept { records_ += rows; }
  /// Adds integers of a block's grid that were summed elsewhere.
  void add_units(Block block, std::span<const std::int64_t> units) noexcept;
  /// Sets everything back to no rows.
  void clear() noexcept;

  [[nodiscard]] std::uint64_t records() const noexcept { return records_; }
  /// The sums of the block since clear(), in units of its grid. For Block::eigenvalue it is λ_min of the second
  /// moments' sum.
  ///
  /// The sensitivity of that eigenvalue is at most 1 (R_x²), under zero-out and under replace-one alike. Let H be the
  /// sum of the other rows. By Weyl, λ_min(H) ≤ λ_min(H + uuᵀ) ≤ λ_min(H) + ‖u‖², so putting one row in the place of
  /// another moves it by at most 1. clip_factor() makes room for what truncation adds to a row. The eigenvalue is
  /// computed from the integer sums; the possible error of the solver, at most 64 d² n 2⁻⁵³ for n rows, and the
  /// truncation to the grid are taken off its scale before it is truncated.
  [[nodiscard]] std::span<const Wide> sums(Block block);

  /// How many rows, since construction, were scaled down, and for how many the target's residual was clipped. Only
  /// the operator may see these numbers.
  [[nodiscard]] std::uint64_t scaled() const noexcept { return scaled_; }
  [[nodiscard]] std::uint64_t clipped() const noexcept { return clipped_; }

 private:
  struct Part {
    double spacing = 1;
    double units = 0;                    // clip factor divided by spacing
    descent::Packed<std::int64_t> open;  // laid out for the kernels
    std::vector<Wide> sums;
  };

  /// A row, scaled and clipped: x·s/R_x and w, both packed.
  struct Scaled {
    double* inputs;
    double* residuals;
  };

  /// The place for one of the rows that are scaled at once.
  [[nodiscard]] Scaled scaled(std::size_t row) noexcept;
  [[nodiscard]] bool scale_weighted(const double* row, double target, double weight, const Scaled& scaled) noexcept;
  [[nodiscard]] bool scale_row(const double* row, double target, const Scaled& scaled) noexcept;
  template <class Factor>
  void set_units(std::size_t rows, const Factor& factor) noexcept;
  void add_outers(const descent::Packed<double>& u, std::size_t rows, std::size_t d, Part& part) noexcept;
  void add_tight_sandwiches(std::size_t rows) noexcept;
  void add_spread(std::size_t rows) noexcept;
  void add_scaled(std::size_t rows) noexcept;
  [[nodiscard]] double residual(const double* row, std::size_t response, double value, double inverse,
                                double* inputs) const noexcept;
  void flush() noexcept;
  void take_eigenvalue();
  [[nodiscard]] Part& part(Block block) noexcept { return parts_[static_cast<std::size_t>(block)]; }

  const kernel::Variant* kernel_;
  Design design_;
  std::array<Part, block_kinds> parts_;
  Radii radii_;
  std::vector<double> centre_;
  descent::Packed<double> inputs_;     // of the rows that are scaled at once
  descent::Packed<double> residuals_;  // of the same
  descent::Packed<double> units_;      // what each of these rows is multiplied by
  descent::Packed<double> scratch_;    // for add_outers() of the kernels
  std::vector<double> weighted_;       // √weight times a row, in the units of the scales
  std::vector<double> inverse_scales_;
  std::uint64_t unflushed_ = 0;
  std::uint64_t whole_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t scaled_ = 0;
  std::uint64_t clipped_ = 0;
};

}  // namespace nustream::moments
