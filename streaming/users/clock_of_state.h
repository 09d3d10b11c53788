// The clock of a lane whose users' limits hold within windows of time, as the lane's state keeps it.
#pragma once

#include <optional>

#include "journal/state_record.h"
#include "nustream/users/limits.h"
#include "nustream/users/period.h"

namespace nustream::users {

/// Empty where limits hold for ever. It goes on from `before`, or begins with the first time where that is null.
[[nodiscard]] std::optional<WindowClock> clock_of(const Limits& limits, const journal::UsersOfState* before);
/// Into the state that is committed next.
void keep_clock(const std::optional<WindowClock>& clock, journal::UsersOfState& state);

}  // namespace nustream::users
