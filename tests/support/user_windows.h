// Times of records and the windows of their steps, computed literally from the rule.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "nustream/users/gate.h"
#include "nustream/users/limits.h"

namespace nustream::tests {

inline const users::Windows ten_seconds{users::Period{std::chrono::seconds(10)}};

/// Times that rise but for some late records and jump over several windows. They begin before 1970, and some are not
/// known.
inline std::vector<double> some_times(std::mt19937_64& random, std::size_t records) {
  std::vector<double> times;
  double now = -40;
  for (std::size_t i = 0; i < records; ++i) {
    now += static_cast<double>(random() % 5);
    if (random() % 20 == 0) now += 25;
    const double late = random() % 6 == 0 ? static_cast<double>(random() % 30) : 0;
    times.push_back(random() % 8 == 0 ? std::numeric_limits<double>::quiet_NaN() : now - late);
  }
  return times;
}

/// The window of record `i`: that of the greatest time among it and all records before. Records before the first
/// known time belong to that time's window. Empty where no time is known.
inline std::optional<std::int64_t> window_of_record(std::span<const double> times, std::size_t i) {
  std::optional<double> latest;
  for (std::size_t j = 0; j < times.size() && (j <= i || !latest); ++j) {
    if (!std::isnan(times[j]) && (!latest || times[j] > *latest)) latest = times[j];
  }
  if (!latest) return std::nullopt;
  return static_cast<std::int64_t>(std::floor(*latest / 10));
}

/// Whether record `i` came after the window of its step, of `m` records, was over.
inline bool is_behind_border(std::span<const double> times, std::size_t i, std::size_t m) {
  return window_of_record(times, i) != window_of_record(times, i - i % m);
}

/// The window of step `t`, of `m` records: that of its first record.
inline std::optional<std::int64_t> window_of_step(std::span<const double> times, std::size_t t, std::size_t m) {
  return window_of_record(times, t * m);
}

/// Whether everybody begins anew before step `t`.
inline bool is_border(std::span<const double> times, std::size_t t, std::size_t m) {
  if (t == 0) return false;
  return window_of_step(times, t - 1, m) != window_of_step(times, t, m);
}

/// Removes from `known` everybody who begins anew at a border: all users but those who were closed.
inline void begin_window(std::map<std::uint64_t, users::Standing>& known) {
  std::erase_if(known, [](const auto& user) { return user.second.count != users::closed_count; });
}

}  // namespace nustream::tests
