// Reads a field's text as a point in time.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nustream::record {

/// A point in time, both as it is written and on the common time line.
struct Timestamp {
  int hour;              ///< 0 … 23, as written (no time zone conversion)
  int day_of_week;       ///< 0 Monday … 6 Sunday, for the date as written
  double epoch_seconds;  ///< seconds since 1970-01-01T00:00:00Z, without leap seconds; may be negative
};

/// Reads ISO 8601 in its extended form, with spaces and tabs around the whole:
///
///     YYYY-MM-DD
///     YYYY-MM-DD[T or space]HH:MM[:SS[.fraction]][Z, ±HH:MM, ±HHMM or ±HH]
///
/// T and Z may be small letters, and the hour may have one digit. A date alone is its midnight, and a time without a
/// zone is UTC. The calendar is the proleptic Gregorian one. Empty for anything else, and for dates and times that do
/// not exist (29 February in a common year, 24:00, a leap second).
[[nodiscard]] std::optional<Timestamp> parse_timestamp(std::string_view text) noexcept;

/// What a plain number counts since 1970-01-01T00:00:00Z.
enum class TimeUnit : std::uint8_t {
  none,  ///< nothing: a number is not a time
  seconds,
  milliseconds,
  microseconds,
};

/// Reads a text as parse_timestamp() does; a text that is a number counts `unit` and is that time in UTC. Empty
/// beyond the years 0 to 9999.
[[nodiscard]] std::optional<Timestamp> parse_time(std::string_view text, TimeUnit unit) noexcept;

}  // namespace nustream::record
