// Notices where the steps of a lane pass from one window of time into the next.
#pragma once

#include <cstddef>
#include <span>

#include "nustream/users/changes.h"
#include "nustream/users/period.h"

namespace nustream::users {

/// Takes the times of the records of the next step, in seconds since 1970 (NaN where one is not known), before the
/// first of these records is gated. If the first one begins the step (`begins_step`) and the step belongs to a later
/// window than the one before it, everyone except the persons who were closed begins anew.
///
/// Returns how many of the records lie in the step's window; they are the first ones. The later ones came when the
/// next window had begun, and take no part. This is decided by public times alone.
[[nodiscard]] std::size_t take_times(std::span<const double> times, bool begins_step, WindowClock& clock,
                                     Changes& changes);

}  // namespace nustream::users
