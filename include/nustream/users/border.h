// Where the steps of a lane pass from one window of time into the next.
#pragma once

#include <span>

#include "nustream/users/changes.h"
#include "nustream/users/period.h"

namespace nustream::users {

/// Takes the times of the records that a step has next, in seconds since 1970 (NaN where one is not known), before
/// the first of them is gated. Where that one begins the step (`begins_step`), and the step belongs to a later window
/// than the one before it, everyone but the persons who were closed begins anew.
void take_times(std::span<const double> times, bool begins_step, WindowClock& clock, Changes& changes);

}  // namespace nustream::users
