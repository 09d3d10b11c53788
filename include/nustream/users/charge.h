// What a user is charged over several epochs, in all of which it may take part.
//
// Nothing that is disjoint by record is disjoint by user: epochs, restarts and the parts of private ranges have noise
// of their own, and all may meet the same user. Where counts and mass carry over from epoch to epoch, a user cannot
// have its limit in each of them, and the charge is the worst way to spread one limit over them; where they were lost
// it is the sum.
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

/// One mechanism of an epoch. An epoch has several (stages) that see the same contributions: their ρ add up.
struct Mechanism {
  noise::Correlation correlation;
  NoiseMultiplier sigma;
};

/// An epoch, as its users are charged for it.
struct Epoch {
  /// The counts and masses of the epoch before it were those that it began with. False of a first epoch, of one whose
  /// store was lost, and of one whose limits are of another kind (Limits).
  bool carries_over = true;
  /// ρ of a user that contributes j times, j = 0 … k; empty where there is no (k, b).
  std::vector<Rho> by_count{};
  /// W, and ρ of a user that uses all of it; ρ of a part m of it is (m/W)² of that. Empty where there is no mass.
  std::optional<Mass> mass{};
  Rho of_mass{0};
  /// What a user may have spent beside that, whatever it did in the epoch: of one that stands in the place of
  /// several.
  Rho before{0};
};

/// Epochs with more participations are charged as if no count carried over; that is never too little.
inline constexpr std::uint64_t spread_times_max = 4096;

/// An epoch of the given mechanisms over `steps` steps, or over all steps of their horizons where none are given: ρ
/// by count is Σ over mechanisms of sens(j, b)²/(2σ²), that of mass W²·max‖C e_t‖²/(2σ²). `by_count` has one entry,
/// for k, where k is above spread_times_max. Throws as privacy::sensitivity() does.
[[nodiscard]] Epoch epoch_of(std::span<const Mechanism> mechanisms, const Limits& limits,
                             std::optional<StepCount> steps, bool carries_over);

/// The most that any user is charged over `epochs`, in their order; rounded up.
///
/// Guarantee: epochs fall into groups that begin where counts were not carried over; groups, and what was spent
/// `before`, add up. In a group the charge is
///
/// - by count: max Σ_e ρ_e(j_e) over all j_e ≥ 0 such that j_e > 0 implies Σ_{i≤e} j_i ≤ k_e: a user counts in an
/// epoch
///   only while its count is below that epoch's k, however large the k of another was. With equal settings over
///   endless steps it is the ρ of one epoch, never the maximum over epochs where their k differ;
/// - by mass: the same with ρ_e(m) = (m/W_e)²ρ_e(W_e). Convex in the m_e, so the maximum is where each of them fills
///   up some epoch's W: with one W it is the largest ρ_e;
/// - the lesser of the two where all epochs of the group have both limits, and the sum of each epoch's own where not
/// all
///   have one of them in common.
[[nodiscard]] Rho charged(std::span<const Epoch> epochs);

/// One epoch in the place of one or more, so that users may go on with their counts elsewhere.
///
/// Guarantee: whatever epochs follow, with their counts carried over or not, charged() of it and them is at least
/// what any user spends in `epochs` and them. Only the last group's spend can depend on a user's present count and
/// mass: by count it is the worst spread that ends at the count; by mass, of one W, the dearest epoch's. What was
/// spent in the groups before it is `before`. Where the last group has no such form it is without_counts().
[[nodiscard]] Epoch folded(std::span<const Epoch> epochs);
/// Of a user that went through the epochs of either: at least as much as both, whatever follows.
[[nodiscard]] Epoch dearest(const Epoch& one, const Epoch& other);
/// All of it `before`: of users of whom nobody knows what they did.
[[nodiscard]] Epoch without_counts(const Epoch& epoch);

}  // namespace nustream::users
