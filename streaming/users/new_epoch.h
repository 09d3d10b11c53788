// What becomes of the table of users where an epoch begins.
#pragma once

#include <optional>
#include <utility>

#include "nustream/users/changes.h"
#include "nustream/users/limits.h"
#include "nustream/users/standings.h"

namespace nustream::users {

/// Whether an epoch under the limits `now` may go on with the counts and masses of one under `before`. That is so
/// where both have the same kinds of limits, and these hold for ever. An epoch that reads records again would meet
/// them in a later window than the epoch before did. So with windows everybody counts anew, and the epochs are
/// charged beside each other.
[[nodiscard]] bool are_of_one_kind(const Limits& before, const Limits& now);
/// W before and after, where it changes; nothing where it does not.
[[nodiscard]] std::optional<std::pair<Mass, Mass>> mass_change(const Limits& before, const Limits& now);
/// Has everybody count anew, except users who were closed. That is for an epoch that is charged beside what users
/// spent before.
void count_anew(const Standings& table, Changes& open);

}  // namespace nustream::users
