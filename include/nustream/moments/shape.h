// What the running sums of a linear model are made of: the numbers of a row, and the blocks that are summed and
// noised.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "nustream/privacy/participation.h"

namespace nustream::moments {

/// A row is [inputs, endogenous regressors] and a target. Of a linear model all features are inputs; of one with
/// instrumental variables the inputs z are the controls and the instruments, and the endogenous regressors x and the
/// target y are both regressed on them (the reduced form).
struct Shape {
  std::size_t inputs = 0;      ///< d, the intercept's 1 among them
  std::size_t endogenous = 0;  ///< 0 for a linear model

  [[nodiscard]] std::size_t row() const noexcept { return inputs + endogenous; }
  /// Columns that are regressed on the inputs: the endogenous regressors, then the target.
  [[nodiscard]] std::size_t responses() const noexcept { return endogenous + 1; }
  /// Coefficients of all responses, column by column.
  [[nodiscard]] std::size_t coefficients() const noexcept { return inputs * responses(); }

  friend bool operator==(const Shape&, const Shape&) = default;
};

/// What is summed beside the moments, for the sampling part of an interval.
enum class Spread {
  none,
  residuals,  ///< Σ rrᵀ, r the clipped residuals of all responses: one variance for every x
  sandwich    ///< Σ r² xxᵀ, r the target's clipped residual: a variance that may depend on x; linear models only
};

/// How the estimate follows from the sums.
enum class Solution {
  floored,  ///< eigenvalues of H are raised to what its noise may be
  adassp    ///< H + λI, λ from a noisy smallest eigenvalue of H: of one step alone (inference/adassp.h)
};

/// One block of sums. Each has its own noise: a key stage, a grid and a multiplier of its own.
enum class Block {
  second,      ///< xxᵀ of the inputs: an isometric triangle (descent/second_moments.h)
  regressors,  ///< inputs × residuals of the endogenous regressors, one column each
  target,      ///< inputs × residual of the target
  spread,      ///< as Spread says: an isometric triangle
  eigenvalue   ///< of an adaptive ridge: the smallest eigenvalue of the second moments' sum, one number
};
inline constexpr std::size_t block_kinds = 5;

/// "second moments", "regressor moments", "target moments", "residual moments", "smallest eigenvalue": as plans print
/// them.
[[nodiscard]] std::string_view name(Block block) noexcept;

/// Everything that decides which sums there are and which of them are private.
struct Design {
  Shape shape;
  Spread spread = Spread::none;
  privacy::Neighbours neighbours;
  Solution solution = Solution::floored;

  friend bool operator==(const Design&, const Design&) = default;
};
/// Throws InvalidParameter for no inputs, for a sandwich beside endogenous regressors, and for an adaptive ridge of
/// anything but a linear model whose rows are private as a whole and whose residuals' spread is not kept.
void check(const Design& design);

/// Those of the design, in the order of the enumeration.
[[nodiscard]] std::vector<Block> blocks(const Design& design);
/// False where only targets are private and the block does not read them: its sums are exact.
[[nodiscard]] bool is_noised(const Design& design, Block block) noexcept;
/// Those with noise, in the order of their noise.
[[nodiscard]] std::vector<Block> noised_blocks(const Design& design);
/// Numbers in a block.
[[nodiscard]] std::size_t entries(const Design& design, Block block) noexcept;

}  // namespace nustream::moments
