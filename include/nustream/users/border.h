// Where the steps of a lane pass from one window of time into the next.
#pragma once

#include <cstddef>
#include <span>

#include "nustream/users/changes.h"
#include "nustream/users/period.h"

namespace nustream::users {

/// Takes the times of the records that a step has next, in seconds since 1970 (NaN where one is not known), before
/// the first of them is gated. Where that one begins the step (`begins_step`), and the step belongs to a later window
/// than the one before it, everyone but the persons who were closed begins anew.
///
/// Returns how many of the records, the first ones, lie in the step's window. Those behind them came when the next
/// one had begun, and take no part: whether a record does is read from public times alone.
[[nodiscard]] std::size_t take_times(std::span<const double> times, bool begins_step, WindowClock& clock,
                                     Changes& changes);

}  // namespace nustream::users
