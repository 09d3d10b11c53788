// What a lane keeps of its users: their table where a new epoch begins, and their clock from one state to the next.
#pragma once

#include <optional>
#include <utility>

#include "journal/state_record.h"
#include "nustream/users/changes.h"
#include "nustream/users/limits.h"
#include "nustream/users/period.h"
#include "nustream/users/standings.h"

namespace nustream::users {

/// Whether an epoch under the limits `now` may go on with the counts and masses of one under `before`. It may where
/// both have the same kinds of limits, and these hold for ever. An epoch that reads records again would meet them in
/// a later window than the epoch before did. So with windows everybody counts anew, and the epochs are charged beside
/// each other.
[[nodiscard]] bool are_of_one_kind(const Limits& before, const Limits& now);
/// W before and after, where it changes; nothing where it does not.
[[nodiscard]] std::optional<std::pair<Mass, Mass>> mass_change(const Limits& before, const Limits& now);
/// Has everybody count anew, except users who were closed. This is for an epoch that is charged beside what users
/// spent before.
void count_anew(const Standings& table, Changes& open);

/// The lane's clock; nothing where limits hold for ever. It goes on from the state `before`. Where `before` is null,
/// the clock begins with the first time that it gets.
[[nodiscard]] std::optional<WindowClock> clock_of(const Limits& limits, const journal::UsersOfState* before);
/// Writes the clock into the state that is committed next.
void keep_clock(const std::optional<WindowClock>& clock, journal::UsersOfState& state);

}  // namespace nustream::users
