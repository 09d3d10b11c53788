// Reads times such as 2010-12-01, 2010-12-01T08:26, 2010-12-01 8:26:30.5 and 2010-12-01T08:26:30+01:00. The reader
// goes from left to right, one part after the other; a text that holds anything else is no time.
#include "nustream/record/timestamp.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "nustream/record/number.h"

namespace nustream::record {
namespace {

// A cursor over what is left of the text. A read moves it only where it succeeds.
struct Cursor {
  std::string_view left;

  bool accept(char c) {
    if (left.empty() || left.front() != c) return false;
    left.remove_prefix(1);
    return true;
  }

  // Reads a number of exactly `width` digits within [0, largest].
  std::optional<int> number(std::size_t width, int largest) {
    if (left.size() < width) return std::nullopt;
    int value = 0;
    for (const char c : left.substr(0, width)) {
      if (c < '0' || c > '9') return std::nullopt;
      value = value * 10 + (c - '0');
    }
    if (value > largest) return std::nullopt;
    left.remove_prefix(width);
    return value;
  }

  // Reads one or more digits after a decimal point, as a fraction of one.
  std::optional<double> fraction() {
    double value = 0;
    double unit = 0.1;
    const std::size_t before = left.size();
    for (; !left.empty() && left.front() >= '0' && left.front() <= '9'; left.remove_prefix(1)) {
      value += unit * (left.front() - '0');
      unit /= 10;
    }
    if (left.size() == before) return std::nullopt;
    return value;
  }

  void skip_spaces() {
    while (!left.empty() && (left.front() == ' ' || left.front() == '\t')) left.remove_prefix(1);
  }
};

// YYYY-MM-DD as a day that exists; 2011-02-29 is none.
std::optional<std::chrono::sys_days> read_date(Cursor& cursor) {
  const auto year = cursor.number(4, 9999);
  if (!year || !cursor.accept('-')) return std::nullopt;
  const auto month = cursor.number(2, 12);
  if (!month || !cursor.accept('-')) return std::nullopt;
  const auto day = cursor.number(2, 31);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{*year}, std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days{date};
}

// HH:MM[:SS[.fraction]] as its hour and its seconds since midnight.
struct TimeOfDay {
  int hour;
  double seconds;
};
std::optional<TimeOfDay> read_time(Cursor& cursor) {
  auto hour = cursor.number(2, 23);
  // Hours before ten may have a single digit, as in 8:26.
  if (!hour) hour = cursor.number(1, 9);
  if (!hour || !cursor.accept(':')) return std::nullopt;
  const auto minute = cursor.number(2, 59);
  if (!minute) return std::nullopt;
  double seconds = *hour * 3600.0 + *minute * 60.0;
  if (cursor.accept(':')) {
    const auto second = cursor.number(2, 59);
    if (!second) return std::nullopt;
    seconds += *second;
    if (cursor.accept('.')) {
      const auto fraction = cursor.fraction();
      if (!fraction) return std::nullopt;
      seconds += *fraction;
    }
  }
  return TimeOfDay{*hour, seconds};
}

// How many seconds the written time is ahead of UTC; 0 where no zone is written.
std::optional<double> read_zone(Cursor& cursor) {
  if (cursor.accept('Z') || cursor.accept('z')) return 0;
  const bool east = cursor.accept('+');
  if (!east && !cursor.accept('-')) return 0;
  const auto hours = cursor.number(2, 23);
  if (!hours) return std::nullopt;
  const bool colon = cursor.accept(':');
  auto minutes = cursor.number(2, 59);
  const bool ends = cursor.left.empty() || cursor.left.front() == ' ' || cursor.left.front() == '\t';
  if (!minutes && !colon && ends) minutes = 0;
  if (!minutes) return std::nullopt;
  const double seconds = *hours * 3600.0 + *minutes * 60.0;
  return east ? seconds : -seconds;
}

}  // namespace

std::optional<Timestamp> parse_timestamp(std::string_view text) noexcept {
  Cursor cursor{text};
  cursor.skip_spaces();
  const auto date = read_date(cursor);
  if (!date) return std::nullopt;

  TimeOfDay time{0, 0};
  double ahead = 0;
  // A space may also stand at the end of the text. A time begins only where a digit follows.
  const bool has_time = cursor.left.size() >= 2 && cursor.left[1] >= '0' && cursor.left[1] <= '9' &&
                        (cursor.accept('T') || cursor.accept('t') || cursor.accept(' '));
  if (has_time) {
    const auto written = read_time(cursor);
    if (!written) return std::nullopt;
    const auto zone = read_zone(cursor);
    if (!zone) return std::nullopt;
    time = *written;
    ahead = *zone;
  }
  cursor.skip_spaces();
  if (!cursor.left.empty()) return std::nullopt;

  // The hour and the day are those that the text shows; the zone changes only the seconds since 1970.
  const auto days = static_cast<double>(date->time_since_epoch().count());
  const auto monday_first = static_cast<int>(std::chrono::weekday{*date}.iso_encoding()) - 1;
  return Timestamp{time.hour, monday_first, days * 86400.0 + time.seconds - ahead};
}

std::optional<Timestamp> parse_time(std::string_view text, TimeUnit unit) noexcept {
  // A written time has dashes, so it cannot be taken for a number.
  if (const auto written = parse_timestamp(text)) return written;
  if (unit == TimeUnit::none) return std::nullopt;
  const auto number = parse_number(text);
  if (!number) return std::nullopt;
  // How many units of the number a second has.
  const double a_second = unit == TimeUnit::seconds ? 1 : unit == TimeUnit::milliseconds ? 1e3 : 1e6;
  const double seconds = *number / a_second;
  // The seconds of 0000-01-01 and of 10000-01-01: the years that a written date can have.
  constexpr double year_0 = -62'167'219'200;
  constexpr double year_10000 = 253'402'300'800;
  if (!(seconds >= year_0 && seconds < year_10000)) return std::nullopt;
  // The day and the hour are computed from the number itself: `seconds` may have been rounded up into the next
  // hour.
  const double days = std::floor(*number / (86'400 * a_second));
  const double hour = std::floor((*number - days * 86'400 * a_second) / (3600 * a_second));
  const std::chrono::sys_days date{std::chrono::days{static_cast<std::int64_t>(days)}};
  const auto monday_first = static_cast<int>(std::chrono::weekday{date}.iso_encoding()) - 1;
  return Timestamp{std::clamp(static_cast<int>(hour), 0, 23), monday_first, seconds};
}

}  // namespace nustream::record
