// Periods such as P30D, and the clock that tells when a lane passes from one window into the next. Window n of a
// period of 30 days holds the times from 30·n days after 1970 on.
#include "nustream/users/period.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "nustream/base/error.h"

namespace nustream::users {
namespace {

/// The units of a duration in the order in which they may stand. Those of a day's parts stand after the T.
struct Unit {
  char letter;
  std::chrono::seconds length;
  bool is_of_day;
};
constexpr Unit duration_units[] = {{'D', std::chrono::days(1), false},
                                   {'H', std::chrono::hours(1), true},
                                   {'M', std::chrono::minutes(1), true},
                                   {'S', std::chrono::seconds(1), true}};

/// Reads a whole number and takes it off `text`. Empty where there is none, or where it is too large for any
/// duration.
std::optional<std::int64_t> take_number(std::string_view& text) {
  constexpr std::int64_t most = std::chrono::seconds(period_max).count();
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number > static_cast<std::uint64_t>(most)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return static_cast<std::int64_t>(number);
}

}  // namespace

Period::Period(std::chrono::milliseconds length) : length_(length) {
  if (length.count() < 1) {
    throw InvalidParameter("period", std::to_string(length.count()) + " ms", "at least a millisecond");
  }
}

std::int64_t Period::window_of(std::chrono::milliseconds time) const noexcept {
  // Division rounds towards 0. Times before 1970 must be rounded down like all others.
  const std::int64_t whole = time.count() / length_.count();
  return time.count() % length_.count() < 0 ? whole - 1 : whole;
}

std::optional<Period> parse_period(std::string_view text) {
  if (!text.starts_with('P') || text.size() < 2) return std::nullopt;
  text.remove_prefix(1);
  std::chrono::seconds length{0};
  bool is_behind_t = false;
  const Unit* next = std::begin(duration_units);
  // Each turn reads a number and its letter. `next` only moves forward, so the units stand in their order and each
  // comes once.
  while (!text.empty()) {
    if (text.front() == 'T') {
      if (is_behind_t || text.size() < 2) return std::nullopt;
      is_behind_t = true;
      text.remove_prefix(1);
    }
    const auto number = take_number(text);
    if (!number || text.empty()) return std::nullopt;
    next =
        std::find_if(next, std::end(duration_units), [&](const Unit& unit) { return unit.letter == text.front(); });
    if (next == std::end(duration_units) || next->is_of_day != is_behind_t) return std::nullopt;
    // The product below cannot overflow then.
    if (*number > period_max / next->length) return std::nullopt;
    length += *number * next->length;
    ++next;
    text.remove_prefix(1);
  }
  if (length < period_min || length > period_max) return std::nullopt;
  return Period{length};
}

// Units of which there are none are left out: a day and six hours are P1DT6H.
std::string text_of(const Period& period) {
  auto rest = std::chrono::duration_cast<std::chrono::seconds>(period.length());
  std::string text = "P";
  for (const Unit& unit : duration_units) {
    const std::int64_t number = rest / unit.length;
    if (number == 0) continue;
    if (unit.is_of_day && text.find('T') == std::string::npos) text += 'T';
    text += std::to_string(number) + unit.letter;
    rest -= number * unit.length;
  }
  return text;
}

// The comparison is false for a NaN, which is how a time that is not known comes.
std::optional<std::chrono::milliseconds> milliseconds_of(double epoch_seconds) noexcept {
  constexpr double furthest = 0x1p40;  // some 35,000 years
  if (!(std::abs(epoch_seconds) < furthest)) return std::nullopt;
  return std::chrono::milliseconds(std::llround(epoch_seconds * 1000));
}

WindowClock::WindowClock(Period period, std::optional<std::chrono::milliseconds> latest,
                         std::optional<std::int64_t> window)
    : period_(period), latest_(latest), window_(window) {}

bool WindowClock::record(std::optional<std::chrono::milliseconds> append_time, bool first_of_step) noexcept {
  // The clock never goes back, whatever times come.
  if (!append_time) ++without_time_;
  if (append_time) latest_ = latest_ ? std::max(*latest_, *append_time) : append_time;
  if (!latest_) return false;
  const std::int64_t now = period_.window_of(*latest_);
  if (!window_) {  // the first time that is known, wherever in its step: all that came before belongs to its window
    window_ = now;
    return false;
  }
  // A step keeps the window of its first record. Whether later records lie behind it, is_behind_border() says.
  if (!first_of_step) return false;
  const bool border = *window_ != now;
  window_ = now;
  return border;
}

bool WindowClock::is_behind_border() const noexcept {
  return window_ && latest_ && period_.window_of(*latest_) != *window_;
}

}  // namespace nustream::users
