// What a user may have spent who has records in several of the windows of time within which the limits hold.
#pragma once

#include <cstdint>
#include <optional>

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"
#include "nustream/users/limits.h"

namespace nustream::users {

/// The ρ of a user over several windows of time.
struct OverWindows {
  Rho rho;
  bool is_reached;  ///< whether some pattern of the user's steps costs that much; if false, it is an upper bound
};

/// The most that a user with records in P = `windows` windows may have spent, where ρ in one window is at most `rho`.
/// All noise of the mechanism has this correlation. `rho` is what sensitivity() of these limits costs within `steps`
/// steps, or over all steps where `steps` is empty.
///
/// Guarantee: ρ·(s_P/s)², where s is the sensitivity to one window and s_P that to P windows, with one noise across
/// the borders. Windows may have any numbers of steps:
///
/// - (k, b): s_P is privacy::sensitivity_over_windows(). At a border two steps of the user may be neighbours.
/// - mass: s_P = W·sens(P, 1), by which all of W is used up in one step of each window, in P neighbouring steps. That
///   is the worst way to spend it, since ‖Σ C e_t x_tᵀ‖ is convex in the lengths ‖x_t‖ of a window, which add up to
///   W. It is exact where W ≤ 1, and an upper bound where W > 1, as it is within one window.
/// - both: the lesser of the two.
///
/// It is never above P²ρ, which would follow from the triangle inequality alone, and is 0 for 0 windows. Rounded up.
/// Throws as sensitivity() does.
[[nodiscard]] OverWindows over_windows(Rho rho, const noise::Correlation& correlation, std::optional<StepCount> steps,
                                       const Limits& limits, std::uint64_t windows);

}  // namespace nustream::users
