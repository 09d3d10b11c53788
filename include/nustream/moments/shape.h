// Says what the running sums of a linear model consist of: the numbers of a row, and the blocks that are summed and
// get noise.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "nustream/privacy/participation.h"

namespace nustream::moments {

/// A row is [inputs, endogenous regressors] and a target. In a linear model all features are inputs. With
/// instrumental variables the inputs z are the controls and the instruments, and both the endogenous regressors x and
/// the target y are regressed on them (the reduced form).
struct Shape {
  std::size_t inputs = 0;      ///< d, including the 1 of the intercept
  std::size_t endogenous = 0;  ///< 0 for a linear model

  [[nodiscard]] std::size_t row() const noexcept { return inputs + endogenous; }
  /// How many columns are regressed on the inputs: the endogenous regressors, then the target.
  [[nodiscard]] std::size_t responses() const noexcept { return endogenous + 1; }
  /// The number of coefficients of all responses; they are kept column by column.
  [[nodiscard]] std::size_t coefficients() const noexcept { return inputs * responses(); }

  friend bool operator==(const Shape&, const Shape&) = default;
};

/// What is summed besides the moments, for the sampling part of an interval.
enum class Spread {
  none,
  residuals,  ///< Σ rrᵀ of the clipped residuals r of all responses: one variance for every x
  sandwich,   ///< Σ r² xxᵀ of the target's clipped residual r: the variance may depend on x; linear models only
  /// A sandwich whose residuals have a tighter bound (Radii), and Σ r² within the target's bound, which tells how
  /// much the tighter bound took. For linear models of private rows.
  tight_sandwich
};

/// How the estimate follows from the sums.
enum class Solution {
  floored,  ///< eigenvalues of H are raised to what its noise may be
  adassp    ///< H + λI with λ from a noisy smallest eigenvalue of H, for one step alone (inference/adassp.h)
};

/// One block of sums. Each block has noise of its own: its own key stage, grid and multiplier.
enum class Block {
  second,      ///< xxᵀ of the inputs: an isometric triangle (descent/second_moments.h)
  regressors,  ///< inputs × residuals of the endogenous regressors, one column each
  target,      ///< inputs × residual of the target
  spread,      ///< as Spread says: an isometric triangle, and Σ r² behind a tight sandwich
  eigenvalue   ///< the smallest eigenvalue of the second moments' sum, one number, for an adaptive ridge
};
inline constexpr std::size_t block_kinds = 5;

/// The name that plans print: "second moments", "regressor moments", "target moments", "residual moments" or
/// "smallest eigenvalue".
[[nodiscard]] std::string_view name(Block block) noexcept;

/// Everything that decides which sums there are and which of them are private.
struct Design {
  Shape shape;
  Spread spread = Spread::none;
  privacy::Neighbours neighbours;
  Solution solution = Solution::floored;

  friend bool operator==(const Design&, const Design&) = default;
};
/// Throws InvalidParameter for no inputs, for a sandwich beside endogenous regressors, and for a tight one of public
/// inputs or users. An adaptive ridge is allowed only for a linear model of private records, not users, whose rows
/// are private as a whole and whose residuals' spread is not kept.
void check(const Design& design);

/// The blocks of the design, in the order of the enumeration.
[[nodiscard]] std::vector<Block> blocks(const Design& design);
/// Whether the block's sums get noise. They do not where only targets are private and the block does not read them:
/// its sums are then exact.
[[nodiscard]] bool is_noised(const Design& design, Block block) noexcept;
/// The blocks with noise, in the order of their noise.
[[nodiscard]] std::vector<Block> noised_blocks(const Design& design);
/// How many numbers a block has.
[[nodiscard]] std::size_t entries(const Design& design, Block block) noexcept;

}  // namespace nustream::moments
