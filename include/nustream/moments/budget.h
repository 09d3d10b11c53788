// Computes what the noise of the running sums costs, and how much noise a budget needs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/moments/participation.h"
#include "nustream/moments/shape.h"
#include "nustream/noise/correlation.h"
#include "nustream/privacy/zcdp.h"
#include "nustream/users/limits.h"

namespace nustream::moments {

/// Δ of one block in units of its radius: how far one record can move the sum of this block alone.
///
/// | block | zero-out | replace-one | of the target alone: zero-out | replace-one |
/// |---|---|---|---|---|
/// | second moments, a sandwich | 1 | √2 | no noise (a sandwich 1) | no noise (1) |
/// | regressor and target moments | 1 | 2 | 1 (regressors: no noise) | 2 |
/// | residual moments | 1 | √2, for one response 1 | 1 | √2, for one response 1 |
/// | smallest eigenvalue | 1 | 1 | not offered | not offered |
///
/// ‖uuᵀ − vvᵀ‖² = ‖u‖⁴ + ‖v‖⁴ − 2(uᵀv)² ≤ 2 in the unit ball, and two numbers of [0, 1] differ by at most 1. Where
/// the unit is the user, replace-one costs 2 in every block: the rows of a user and those of the user that takes its
/// place may be in different steps, and then only the triangle inequality holds.
///
/// A tight sandwich counts as a sandwich. Its two parts, each divided by √2, are together no further apart than that:
/// (2 + 1)/2 ≤ 2 in squares.
///
/// Throws InvalidParameter for a block without noise.
[[nodiscard]] Displacement displacement(const Design& design, Block block);

/// ρ of a record's move in all noised blocks at once, computed from each block's own ρ at its own Δ, in the order of
/// noised_blocks().
///
/// Guarantee: an upper bound of Σ_blocks ‖move‖²/(2 stddev²) over all pairs of records. Under zero-out it is the sum,
/// which one record can reach. Under replace-one a record never moves all blocks the most at once. With ρ_H of the
/// second moments, ρ_g of the moments of all responses together, and c the cosine between the two records' inputs, it
/// is ρ_H(1 − c²) + ρ_g(1 + |c|)/2. This is largest at c = ρ_g/(4ρ_H): ρ_H + ρ_g/2 + ρ_g²/(16ρ_H) where ρ_g ≤ 4ρ_H,
/// and ρ_g otherwise (shorter inputs move less). The ρ of the spread and of the smallest eigenvalue are added to it.
/// Cf. arXiv 2502.06597. Where the unit is the user it is the sum of all parts under either adjacency, as each block
/// moves by at most its Δ.
[[nodiscard]] Rho joint(const Design& design, const std::vector<Rho>& parts);

/// Who is protected, and how the noise of all blocks is correlated over the steps.
struct Mechanism {
  Design design;
  BatchParticipation participation;  ///< participation of a record
  noise::Correlation correlation;
  /// What each user may do, where the unit of privacy is the user. A contribution is then a user's sums of one step,
  /// with a length of at most 1 in every block. These limits take the place of `participation`, of which only
  /// `batch`, the number of records of a step, is still used.
  std::optional<users::Limits> users{};
};

/// privacy::sensitivity_limit() of the participation, or users::sensitivity_limit() of the limits. Throws as those
/// do.
[[nodiscard]] Sensitivity sensitivity_limit(const Mechanism& mechanism);

/// How a budget is divided: the ρ of the blocks are in these proportions, in the order of noised_blocks().
using Shares = std::vector<double>;

/// σ of each noised block per unit of displacement(), such that all blocks together cost at most `budget` at the
/// correlation's horizon, or in the limit. Throws InvalidParameter for a budget of 0, for another number of shares
/// than noised blocks, and for a share that is not finite and > 0. Throws Unsupported as sensitivity_limit() does.
[[nodiscard]] std::vector<NoiseMultiplier> calibrate(const Mechanism& mechanism, const Shares& shares, Rho budget);

/// σ of one mechanism of displacement 1 that costs what all blocks cost together: for records that take part in whole
/// steps, sens²/(2σ²) of the correlation is joint() of the blocks. It is rounded down, so that its spend is never too
/// small. Throws InvalidParameter for another number of multipliers than noised blocks.
[[nodiscard]] NoiseMultiplier joint_multiplier(const Design& design, const std::vector<NoiseMultiplier>& sigmas);

/// What a unit has spent after a number of steps. Const functions change a cache, so one object belongs to one
/// thread. The answers do not depend on what was asked before.
class Spend {
 public:
  /// `sigmas` are in the order of noised_blocks(). Throws InvalidParameter for another number of them, and where the
  /// unit is the user (users::spend() is for those).
  Spend(const Mechanism& mechanism, const std::vector<NoiseMultiplier>& sigmas);

  /// ρ of the worst unit after `steps` steps, from what it took part in until then: 0 at 0 steps, never decreasing,
  /// rounded up. Throws Unsupported beyond the correlation's horizon.
  [[nodiscard]] Rho after(StepCount steps) const;
  /// ρ of a record whose step was `age` − 1 steps ago. Throws Unsupported where units have several records.
  [[nodiscard]] Rho of_age(StepCount age) const;
  /// The supremum of after(). Throws Unsupported where it is infinite.
  [[nodiscard]] Rho limit() const;
  [[nodiscard]] std::optional<StepCount> horizon() const { return fewer_.horizon(); }

 private:
  [[nodiscard]] Rho of_layers(Rho fewer, std::optional<Rho> more) const;

  Layers layers_;
  double at_unit_sensitivity_;  // ρ of all blocks if the encoder's sensitivity were 1
  privacy::Spend fewer_;        // spend of one layer at σ = 1
  std::optional<privacy::Spend> more_;
};

}  // namespace nustream::moments
