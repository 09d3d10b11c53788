// Decides whether a user contributes in a step, and what the contribution uses up of the user's limits.
//
// The answers of these functions are not public: which records count, how many, and who is at a limit depend on data.
// A record that does not count takes its step with a zero gradient, like any unusable record, so that the number of
// steps stays public.
#pragma once

#include <cstdint>

#include "nustream/base/units.h"
#include "nustream/users/limits.h"

namespace nustream::users {

/// W is divided into this many parts, and mass is charged in whole parts, rounded up. So a contribution is charged
/// too much by less than W·2^-31, and never too little.
inline constexpr std::uint32_t mass_units = std::uint32_t{1} << 31;
/// The count of a person who was closed. No limit lets such a person contribute again.
inline constexpr std::uint32_t closed_count = static_cast<std::uint32_t>(times_max) + 1;

/// What a user has used up of its limits. All zeros: nothing yet.
struct Standing {
  std::uint64_t next = 0;   ///< one past the last step in which the user contributed; 0 for none in this epoch
  std::uint32_t count = 0;  ///< steps in which the user contributed, at most times_max; or closed_count
  std::uint32_t mass = 0;   ///< how many of mass_units are used

  friend bool operator==(const Standing&, const Standing&) = default;
};

/// Whether the user may contribute in `step`. It is asked before the gradient of the user's first record in the step
/// is computed. The user may contribute if it is not closed, its count is below k, its last step lies at least b
/// steps before, and some of its mass is left. `step` must come after all steps that the standing counts; later
/// records of a step belong to the contribution that is open (contribution.h).
[[nodiscard]] bool may_contribute(const Limits& limits, const Standing& standing, StepIndex step) noexcept;

/// The charge for a contribution that may_contribute() let in.
struct Charge {
  double allowed;  ///< the norm that may enter the mechanism, in units of the bound; at most the norm asked for
  Standing after;
};

/// Charges a contribution. `norm` is the contribution's norm in units of the step's bound, after clipping (0 ≤ norm ≤
/// 1) and before truncation to the grid, rounded up. A contribution that would cross W is scaled to what is left. The
/// sum of all norms that are allowed is at most W, exactly.
[[nodiscard]] Charge charge(const Limits& limits, const Standing& standing, StepIndex step, double norm) noexcept;

/// The standing of a person who was closed. The entry stays, at its limits, because an erased entry could count
/// again.
[[nodiscard]] Standing closed(Standing standing) noexcept;

/// A standing at the beginning of another epoch. Count and mass carry over. The last step does not, because steps are
/// counted anew and each epoch has noise of its own, whose (k, b) restricts the steps of that epoch alone. Where W
/// changes from `from` to `to`, the norm that was used up stays what it was, rounded up.
[[nodiscard]] Standing carried_over(Standing standing) noexcept;
[[nodiscard]] Standing carried_over(Standing standing, Mass from, Mass to) noexcept;

}  // namespace nustream::users
