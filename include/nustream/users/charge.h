// Computes what a user is charged over several epochs if it may take part in all of them.
//
// Records that are disjoint do not make users disjoint: epochs, restarts and the parts of private ranges have noise
// of their own, and all of them may meet the same user. Where counts and mass carry over from epoch to epoch, a user
// cannot use its full limit in each of them, so the charge is the worst way to spread one limit over them. Where
// counts were lost, the charge is the sum.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"
#include "nustream/privacy/participation.h"
#include "nustream/users/limits.h"

namespace nustream::users {

/// One mechanism of an epoch. The several mechanisms (stages) of an epoch see the same contributions, so their ρ add
/// up.
struct Mechanism {
  noise::Correlation correlation;
  NoiseMultiplier sigma;
};

/// An epoch, as its users are charged for it.
struct Epoch {
  /// Whether the epoch began with the counts and masses of the one before it. False for a first epoch, for one whose
  /// store was lost, and for one whose limits are of another kind (Limits).
  bool carries_over = true;
  /// ρ of a user that contributes j times, for j = 0 … k; empty where there is no (k, b).
  std::vector<Rho> by_count{};
  /// W; empty where there is no mass. `of_mass` is ρ of a user that uses all of W, and a part m of W costs (m/W)² of
  /// that.
  std::optional<Mass> mass{};
  Rho of_mass{0};
  /// What a user may have spent besides, whatever it did in this epoch. It is used by an epoch that stands in the
  /// place of several.
  Rho before{0};
};

/// The largest k that is spread over epochs. Epochs with a larger k are charged as if no count carried over, which is
/// never too little.
inline constexpr std::uint64_t spread_times_max = 4096;

/// An epoch of the given mechanisms over `steps` steps, or over all steps of their horizons where `steps` is empty. ρ
/// by count is Σ over mechanisms of sens(j, b)²/(2σ²); ρ of mass is W²·max‖C e_t‖²/(2σ²). `by_count` has a single
/// entry, for k, where k is above spread_times_max. Throws as privacy::sensitivity() does.
[[nodiscard]] Epoch epoch_of(std::span<const Mechanism> mechanisms, const Limits& limits,
                             std::optional<StepCount> steps, bool carries_over);

/// The most that any user is charged over `epochs`, which are in their order; rounded up.
///
/// Guarantee: the epochs fall into groups, each of which begins where counts were not carried over. The charges of
/// the groups, and what was spent `before`, add up. Within a group the charge is
///
/// - by count: max Σ_e ρ_e(j_e) over all j_e ≥ 0 such that j_e > 0 implies Σ_{i≤e} j_i ≤ k_e. So a user counts in an
///   epoch only while its count is below that epoch's k, however large the k of another epoch was. With equal
///   settings over endless steps this is the ρ of one epoch. Where the k differ it can be more than the largest ρ of
///   one epoch;
/// - by mass: the same with ρ_e(m) = (m/W_e)²ρ_e(W_e). This is convex in the m_e, so the maximum is where each of
///   them fills up some epoch's W. With a single W it is the largest ρ_e;
/// - the lesser of the two where all epochs of the group have both limits. Where the epochs have neither limit in
///   common, it is the sum of what each epoch costs by itself.
[[nodiscard]] Rho charged(std::span<const Epoch> epochs);

/// One epoch in the place of one or more, so that users may go on elsewhere with their counts.
///
/// Guarantee: whatever epochs follow, whether their counts carry over or not, charged() of the folded epoch together
/// with the following ones is at least what any user spends in `epochs` and the following ones. Only the spend of the
/// last group can depend on a user's present count and mass: by count it is the worst spread that ends at the count,
/// and by mass, with one W, it is the spend of the dearest epoch. `before` is what was spent in the groups before.
/// Where count and mass of the last epoch do not determine the spend of the last group, the result is
/// without_counts().
[[nodiscard]] Epoch folded(std::span<const Epoch> epochs);
/// An epoch for a user that went through the epochs of either `one` or `other`: it is charged at least as much as
/// both, whatever follows.
[[nodiscard]] Epoch dearest(const Epoch& one, const Epoch& other);
/// The epoch with all its charge in `before`, for users whose contributions are not known.
[[nodiscard]] Epoch without_counts(const Epoch& epoch);

}  // namespace nustream::users
