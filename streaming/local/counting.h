// Lines that may be reports, counted: what a file and a topic have in common.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "local/collector_folder.h"
#include "local/report.h"

namespace nustream::local {

/// What this run met. Counts of lines, not of people.
struct Counted {
  std::uint64_t added = 0;
  std::uint64_t duplicates = 0;
  std::array<std::uint64_t, reject_kinds> rejects{};  ///< by Reject
};

/// Adds reports to a folder and commits it as often as the settings say. One thread.
class Counting {
 public:
  /// All three outlive it.
  Counting(const Settings& settings, const ReportFormat& format, CollectorFolder& folder);

  /// One line, without its newline: a report is added, anything else is counted and dropped.
  void use(std::string_view line);
  void reject(Reject reason) noexcept { ++counted_.rejects[static_cast<std::size_t>(reason)]; }
  /// Commits where it is time to.
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

}  // namespace nustream::local
