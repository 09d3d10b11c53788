// Windows of time after which every user's limits begin anew.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

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

/// A lane's clock: the greatest append time so far, and the window of the step that is open. Append times are public;
/// a time that a producer could date ahead would begin everybody's limits anew.
class WindowClock {
 public:
  /// `latest` and `window` are what a state kept; empty before the first record.
  explicit WindowClock(Period period, std::optional<std::chrono::milliseconds> latest = {},
                       std::optional<std::int64_t> window = {});

  /// Takes a record's append time. Where the record is the first of a step, the step belongs to the window of the
  /// clock. Returns whether this is a border: a step of a later window begins, and the caller empties the whole
  /// table, counts, last steps and mass alike. A last step that survived would let the records of one window decide
  /// which of the next one count: up to 3k steps would differ.
  [[nodiscard]] bool record(std::chrono::milliseconds append_time, bool first_of_step) noexcept;

  [[nodiscard]] std::optional<std::chrono::milliseconds> latest() const noexcept { return latest_; }
  /// Of the last step that began.
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
