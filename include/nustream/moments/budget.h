// What the noise of the running sums costs, and how much of it a budget needs.
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

/// Δ of one block, in units of its radius: how far one record can move its sum alone.
///
/// | block | zero-out | replace-one | of the target alone: zero-out | replace-one |
/// |---|---|---|---|---|
/// | second moments, a sandwich | 1 | √2 | no noise (a sandwich 1) | no noise (1) |
/// | regressor and target moments | 1 | 2 | 1 (regressors: no noise) | 2 |
/// | residual moments | 1 | √2, for one response 1 | 1 | √2, for one response 1 |
/// | smallest eigenvalue | 1 | 1 | not offered | not offered |
///
/// ‖uuᵀ − vvᵀ‖² = ‖u‖⁴ + ‖v‖⁴ − 2(uᵀv)² ≤ 2 in the unit ball; two numbers of [0, 1] differ by at most 1.
/// Of users under replace-one 2 for every block: a user's rows and those of whoever takes its place may be in other
/// steps, where nothing but the triangle inequality holds.
/// Throws InvalidParameter for a block without noise.
[[nodiscard]] Displacement displacement(const Design& design, Block block);

/// ρ of a record's move in all noised blocks at once, from each block's own ρ (in the order of noised_blocks(), each
/// at its own Δ).
///
/// Guarantee: an upper bound of Σ_blocks ‖move‖²/(2 stddev²) over all pairs of records. Zero-out: the sum, which one
/// record reaches. Replace-one: never all at their largest. With ρ_H of the second moments, ρ_g of the moments of all
/// responses together, and c the cosine between the two records' inputs, it is ρ_H(1 − c²) + ρ_g(1 + |c|)/2, largest
/// at c = ρ_g/(4ρ_H): ρ_H + ρ_g/2 + ρ_g²/(16ρ_H) where ρ_g ≤ 4ρ_H, else ρ_g (shorter inputs move less). The spread's
/// ρ and that of the smallest eigenvalue are added to it. Cf. arXiv 2502.06597. Of users the sum of all parts,
/// whatever the neighbours: each block's move is at most its Δ.
[[nodiscard]] Rho joint(const Design& design, const std::vector<Rho>& parts);

/// Who is protected, and how the noise of all blocks is correlated over the steps.
struct Mechanism {
  Design design;
  BatchParticipation participation;  ///< of a record
  noise::Correlation correlation;
  /// Where the unit is the user: what each may do, a contribution being a user's sums of one step, of length at most
  /// 1 in every block. It takes the place of `participation`, of which the number of records of a step is left.
  std::optional<users::Limits> users{};
};

/// sensitivity_limit() of the participation, or users::sensitivity_limit() of the limits. Throws as they do.
[[nodiscard]] Sensitivity sensitivity_limit(const Mechanism& mechanism);

/// How a budget is divided: the blocks' own ρ are in these proportions, in the order of noised_blocks().
using Shares = std::vector<double>;

/// σ of each noised block, per unit of displacement(): together they cost at most `budget` in the limit, or at the
/// correlation's horizon. Throws InvalidParameter for a budget of 0, another number of shares than noised blocks, or
/// a share that is not finite and > 0; Unsupported as sensitivity_limit() does.
[[nodiscard]] std::vector<NoiseMultiplier> calibrate(const Mechanism& mechanism, const Shares& shares, Rho budget);

/// σ of one mechanism of displacement 1 that costs what all blocks cost together: for records that take part in whole
/// steps, sens²/(2σ²) of the correlation is joint() of the blocks. Rounded down, so that its spend is never less.
/// Throws InvalidParameter for another number of multipliers than noised blocks.
[[nodiscard]] NoiseMultiplier joint_multiplier(const Design& design, const std::vector<NoiseMultiplier>& sigmas);

/// What a unit has spent after so many steps. Const functions change a cache: one object is for one thread. Answers
/// do not depend on what was asked before.
class Spend {
 public:
  /// `sigmas` in the order of noised_blocks(). Throws InvalidParameter for another number of them, and where the unit
  /// is the user (users::spend()).
  Spend(const Mechanism& mechanism, const std::vector<NoiseMultiplier>& sigmas);

  /// ρ of the worst unit after `steps` steps, with what it took part in until then: 0 at 0, never decreasing, rounded
  /// up. Throws Unsupported beyond the correlation's horizon.
  [[nodiscard]] Rho after(StepCount steps) const;
  /// ρ of a record whose step was `age` − 1 steps ago. Throws Unsupported where units have several records.
  [[nodiscard]] Rho of_age(StepCount age) const;
  /// The supremum of after(). Throws Unsupported where it is infinite.
  [[nodiscard]] Rho limit() const;
  [[nodiscard]] std::optional<StepCount> horizon() const { return fewer_.horizon(); }

 private:
  [[nodiscard]] Rho of_layers(Rho fewer, std::optional<Rho> more) const;

  Layers layers_;
  double at_unit_sensitivity_;  // ρ of all blocks where the encoder's sensitivity is 1
  privacy::Spend fewer_;        // of one layer, σ = 1
  std::optional<privacy::Spend> more_;
};

}  // namespace nustream::moments
