// Keeps the clock of a lane in the lane's state, where the limits of users hold within windows of time.
#pragma once

#include <optional>

#include "journal/state_record.h"
#include "nustream/users/limits.h"
#include "nustream/users/period.h"

namespace nustream::users {

/// The lane's clock; nothing where limits hold for ever. It goes on from the state `before`. Where that is null, it
/// begins with the first time that it is told.
[[nodiscard]] std::optional<WindowClock> clock_of(const Limits& limits, const journal::UsersOfState* before);
/// Writes the clock into the state that is committed next.
void keep_clock(const std::optional<WindowClock>& clock, journal::UsersOfState& state);

}  // namespace nustream::users
