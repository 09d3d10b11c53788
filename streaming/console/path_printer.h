// What a person sees while a replay runs: some ten lines of the path, and on a terminal a progress bar.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "check/tally.h"
#include "console/main_path.h"
#include "console/terminal.h"
#include "publish/release_json.h"

namespace nustream::console {

/// How far the input has been read, for the operator's progress bar.
struct InputProgress {
  std::uint64_t records = 0;
  std::uint64_t bytes_read = 0;
  std::optional<std::uint64_t> bytes_total;
  std::optional<std::uint64_t> records_total;  ///< where the window has an end; it is a better measure than bytes

  /// The share of the input that has been read; empty where its length is unknown.
  [[nodiscard]] std::optional<double> share() const;
};

/// Shows releases that have been published, and no others. It prints a line for each power of two of their count, so
/// that a stream of any length gives some ten to thirty lines.
class PathPrinter {
 public:
  /// What the first column counts.
  enum class Count { records, steps };
  /// `lines` receives the path; null shows none. The bar goes to standard error where that is a terminal.
  explicit PathPrinter(std::FILE* lines, Count count = Count::records);

  /// Takes releases that were just published, as whole lines in the order of their steps.
  void published(std::string_view outbox);
  /// Redraws the bar at most ten times a second.
  void progress(const InputProgress& input);
  /// Prints the line of the last release if it has not been shown, and removes the bar.
  void finish();
  /// The last published release.
  [[nodiscard]] const std::optional<publish::ShownRelease>& last() const noexcept { return last_; }

 private:
  void show(const publish::ShownRelease& release);
  [[nodiscard]] std::string cells(const publish::NamedValues& values, bool names) const;

  std::FILE* lines_;
  Count counted_;
  bool header_shown_ = false;
  std::uint64_t count_ = 0;
  std::string last_line_;  // parsed only when it is shown
  std::uint64_t shown_step_ = 0;
  std::optional<publish::ShownRelease> last_;
  TerminalBar bar_;
  MainPath path_;  // what the bar shows of the path
};

using check::with_separators;
/// The value with four decimals, or in scientific notation where four decimals would hide it.
[[nodiscard]] std::string shown_number(double value);

}  // namespace nustream::console
