// Counts lines that may be reports: what reading a file and reading a topic have in common.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "local/collector_folder.h"
#include "local/report.h"
#include "local/settings.h"

namespace nustream::local {

/// What this run has met. These are counts of lines, not of people.
struct Counted {
  std::uint64_t added = 0;
  std::uint64_t duplicates = 0;
  std::array<std::uint64_t, reject_kinds> rejects{};  ///< by Reject
};

/// Adds reports to a folder and commits it as often as the settings say. To be used by one thread.
class Counting {
 public:
  /// `settings`, `format` and `folder` have to outlive it.
  Counting(const Settings& settings, const ReportFormat& format, CollectorFolder& folder);

  /// Takes one line without its newline: a report is added, and anything else is counted and dropped.
  void use(std::string_view line);
  void reject(Reject reason) noexcept { ++counted_.rejects[static_cast<std::size_t>(reason)]; }
  /// Commits where enough reports or enough time have passed since the last commit.
  void commit_if_due();
  void commit();

  [[nodiscard]] CollectorFolder& folder() noexcept { return folder_; }
  [[nodiscard]] const Counted& counted() const noexcept { return counted_; }

 private:
  using Clock = std::chrono::steady_clock;

  const Settings& settings_;
  CollectorFolder& folder_;
  ReportReader reader_;
  Counted counted_;
  Clock::time_point committed_ = Clock::now();
};

/// Counts the records of settings.kafka.topics.input until `signal` is set, or, with `until_end`, up to the end that
/// the topic has at the beginning. Positions are kept with the sums and not with the group, so that what a crash
/// interrupted is read again and counted once. Commits at the end.
///
/// Throws Failure: configuration for a missing topic, data where the topic ends before a position, locked where
/// another member of the group takes partitions, and unavailable where brokers are away for longer than
/// kafka.give_up.
void count_topic(const Settings& settings, bool until_end, Counting& counting, const std::atomic<int>& signal);

}  // namespace nustream::local
