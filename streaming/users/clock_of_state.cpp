#include "users/clock_of_state.h"

#include <chrono>

namespace nustream::users {

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
  if (clock->latest()) state.latest = clock->latest()->count();
  state.window = clock->window();
}

}  // namespace nustream::users
