// Three decisions at the border of two epochs: whether counts go on, what happens to closed users where they do not,
// and from where the clock of windows goes on.
#include "users/going_on.h"

#include <chrono>

#include "nustream/users/gate.h"

namespace nustream::users {

bool are_of_one_kind(const Limits& before, const Limits& now) {
  if (before.windows() || now.windows()) return false;
  return before.participation().has_value() == now.participation().has_value() &&
         before.mass().has_value() == now.mass().has_value();
}

std::optional<std::pair<Mass, Mass>> mass_change(const Limits& before, const Limits& now) {
  if (!before.mass() || !now.mass() || *before.mass() == *now.mass()) return std::nullopt;
  return std::pair(*before.mass(), *now.mass());
}

void count_anew(const Standings& table, Changes& open) {
  // The table itself is left alone. These changes go into the epoch's first batch, and the table takes them once that
  // batch is committed.
  open.empty_table();
  for (unsigned part = 0; part < Standings::parts; ++part) {
    table.visit_part(part, [&](const Entry& entry) {
      // A closed user stays closed for ever, but the mass and the last step of the old epoch are not needed for that.
      if (entry.standing.count == closed_count) open.put({entry.user, entry.number, closed({})});
    });
  }
}

std::optional<WindowClock> clock_of(const Limits& limits, const journal::UsersOfState* before) {
  if (!limits.windows()) return std::nullopt;
  if (before == nullptr) {
    return WindowClock(limits.windows()->period);
  }
  std::optional<std::chrono::milliseconds> latest;
  if (before->latest) latest = std::chrono::milliseconds(*before->latest);
  return WindowClock(limits.windows()->period, latest, before->window);
}

void keep_clock(const std::optional<WindowClock>& clock, journal::UsersOfState& state) {
  if (!clock) return;
  // A clock that no record has set yet has no time. The state keeps none then, and a resume begins at the same point.
  if (clock->latest()) state.latest = clock->latest()->count();
  state.window = clock->window();
}

}  // namespace nustream::users
