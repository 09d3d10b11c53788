// Windows of time after which every user's limits begin anew.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nustream/base/units.h"

namespace nustream::users {

/// The length of a window, at least a millisecond; a whole number of milliseconds. InvalidParameter otherwise.
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

/// Within what the limits of users hold, where they do not hold for ever.
struct Windows {
  Period period;
  /// The times are a column's, of which the operator declares that nobody dates a record to begin limits anew. False:
  /// they are those at which Kafka appended the records.
  bool times_are_trusted = false;

  friend bool operator==(const Windows&, const Windows&) = default;
};

/// The longest period that a setting may ask for, and the shortest.
inline constexpr std::chrono::days period_max{36'500};
inline constexpr std::chrono::seconds period_min{1};

/// An ISO 8601 duration of whole days, hours, minutes and seconds in this order, each at most once and at least one
/// of them: P30D, PT12H, P1DT6H30M. Empty where the text is no such, or its length not from period_min to period_max.
/// Months and years have no fixed length, and weeks have a notation of their own: neither is read.
[[nodiscard]] std::optional<Period> parse_period(std::string_view text);
/// The same text for every period of one length: parse_period() reads it back. Of whole seconds (contract).
[[nodiscard]] std::string text_of(const Period& period);
/// Of a record's time in seconds since 1970, to the nearest millisecond; empty for NaN and what no clock shows.
[[nodiscard]] std::optional<std::chrono::milliseconds> milliseconds_of(double epoch_seconds) noexcept;

/// A lane's clock: the greatest append time so far, and the window of the step that is open. Append times are public;
/// a time that a producer could date ahead would begin everybody's limits anew.
class WindowClock {
 public:
  /// `latest` and `window` are what a state kept; empty before the first record.
  explicit WindowClock(Period period, std::optional<std::chrono::milliseconds> latest = {},
                       std::optional<std::int64_t> window = {});

  /// Takes a record's append time; a record without one leaves the clock where it is. Where the record is the first
  /// of a step, the step belongs to the window of the clock. Returns whether this is a border: a step of a later
  /// window begins, and the caller empties the whole table, counts, last steps and mass alike. A last step that
  /// survived would let the records of one window decide which of the next one count: up to 3k steps would differ.
  [[nodiscard]] bool record(std::optional<std::chrono::milliseconds> append_time, bool first_of_step) noexcept;

  /// Whether the last record lies behind the window of its step: it came in a later one, and so takes no part. If it
  /// did, a user could take part k more times in one period: k times in the step's window, and k times behind it.
  [[nodiscard]] bool is_behind_border() const noexcept;

  [[nodiscard]] std::optional<std::chrono::milliseconds> latest() const noexcept { return latest_; }
  /// Of the last step that began; of none before the first known time, whose window those steps then belong to.
  [[nodiscard]] std::optional<std::int64_t> window() const noexcept { return window_; }

 private:
  Period period_;
  std::optional<std::chrono::milliseconds> latest_;
  std::optional<std::int64_t> window_;
};

/// What a promise of `rho` within one window comes to for a user with records in `windows` of them: P²ρ. One noise
/// runs across the borders, so P patterns of the user's limits add up in length at most (triangle inequality).
/// Rounded up.
[[nodiscard]] Rho over_windows(Rho rho, std::uint64_t windows);

}  // namespace nustream::users
