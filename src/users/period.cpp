#include "nustream/users/period.h"

#include <algorithm>
#include <string>

#include "nustream/base/error.h"
#include "privacy/rounding.h"

namespace nustream::users {

Period::Period(std::chrono::milliseconds length) : length_(length) {
  if (length.count() < 1) {
    throw InvalidParameter("period", std::to_string(length.count()) + " ms", "at least a millisecond");
  }
}

std::int64_t Period::window_of(std::chrono::milliseconds time) const noexcept {
  const std::int64_t whole = time.count() / length_.count();
  return time.count() % length_.count() < 0 ? whole - 1 : whole;
}

WindowClock::WindowClock(Period period, std::optional<std::chrono::milliseconds> latest,
                         std::optional<std::int64_t> window)
    : period_(period), latest_(latest), window_(window) {}

bool WindowClock::record(std::chrono::milliseconds append_time, bool first_of_step) noexcept {
  latest_ = latest_ ? std::max(*latest_, append_time) : append_time;
  if (!first_of_step) return false;
  const std::int64_t now = period_.window_of(*latest_);
  const bool border = window_ && *window_ != now;
  window_ = now;
  return border;
}

Rho over_windows(Rho rho, std::uint64_t windows) {
  const double times = static_cast<double>(windows);
  return Rho{privacy::rounded_up(rho.value() * times * times, 0)};
}

}  // namespace nustream::users
