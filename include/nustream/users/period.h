// Windows of time, after each of which every user's limits begin anew.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nustream::users {

/// The length of a window in whole milliseconds. The constructor throws InvalidParameter below one millisecond.
class Period {
 public:
  explicit Period(std::chrono::milliseconds length);
  [[nodiscard]] std::chrono::milliseconds length() const noexcept { return length_; }
  /// The number of the window that holds `time`, counted from 1970: ⌊time/length⌋.
  [[nodiscard]] std::int64_t window_of(std::chrono::milliseconds time) const noexcept;

  friend bool operator==(const Period&, const Period&) = default;

 private:
  std::chrono::milliseconds length_;
};

/// The windows within which the limits of users hold, where they do not hold for ever.
struct Windows {
  Period period;
  /// Whether the times are those of a column. The operator then declares that nobody chooses a record's date in order
  /// to begin limits anew. If false, they are the times at which Kafka appended the records.
  bool times_are_trusted = false;

  friend bool operator==(const Windows&, const Windows&) = default;
};

/// The longest and the shortest period that a setting may ask for.
inline constexpr std::chrono::days period_max{36'500};
inline constexpr std::chrono::seconds period_min{1};

/// Reads an ISO 8601 duration of whole days, hours, minutes and seconds in this order, each at most once and at least
/// one of them: P30D, PT12H, P1DT6H30M. Empty where the text is not such a duration, or its length is not from
/// period_min to period_max. Months and years are not read because they have no fixed length, nor are weeks, which
/// have a notation of their own.
[[nodiscard]] std::optional<Period> parse_period(std::string_view text);
/// The canonical text of a period, which parse_period() reads back. The period must have whole seconds.
[[nodiscard]] std::string text_of(const Period& period);
/// The time of a record in seconds since 1970, to the nearest millisecond. Empty for NaN and for times that no clock
/// shows.
[[nodiscard]] std::optional<std::chrono::milliseconds> milliseconds_of(double epoch_seconds) noexcept;

/// The clock of a lane: the greatest append time so far, and the window of the open step. It goes by append times
/// because they are public. If producers' times counted, one record dated ahead could begin everybody's limits anew.
class WindowClock {
 public:
  /// `latest` and `window` are what a state kept; they are empty before the first record.
  explicit WindowClock(Period period, std::optional<std::chrono::milliseconds> latest = {},
                       std::optional<std::int64_t> window = {});

  /// Takes the append time of a record; a record without one leaves the clock where it is. If the record is the first
  /// of a step, the step belongs to the window that the clock is in. Returns whether this is a border, that is
  /// whether a step of a later window begins. The caller then empties the whole table: counts, last steps and mass
  /// alike. If last steps survived, the records of one window would decide which records of the next one count, and
  /// up to 3k steps would differ.
  [[nodiscard]] bool record(std::optional<std::chrono::milliseconds> append_time, bool first_of_step) noexcept;

  /// Whether the last record lies behind the window of its step: it came in a later one, and so takes no part. If it
  /// did, a user could take part k more times in one period: k times in the step's window, and k times behind it.
  [[nodiscard]] bool is_behind_border() const noexcept;

  [[nodiscard]] std::optional<std::chrono::milliseconds> latest() const noexcept { return latest_; }
  /// The window of the last step that began. Empty before the first known time; such steps belong to the window of
  /// that time.
  [[nodiscard]] std::optional<std::int64_t> window() const noexcept { return window_; }
  /// How many records, since construction, had no time. It is in no state, and only the operator may see it.
  [[nodiscard]] std::uint64_t without_time() const noexcept { return without_time_; }

 private:
  Period period_;
  std::optional<std::chrono::milliseconds> latest_;
  std::optional<std::int64_t> window_;
  std::uint64_t without_time_ = 0;
};

}  // namespace nustream::users
