// What a person sees while a replay runs: some ten lines of the path, and a progress bar on a terminal.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "check/tally.h"
#include "console/main_path.h"
#include "console/terminal_bar.h"
#include "publish/release_json.h"

namespace nustream::console {

/// How far the input has been read, for the operator's progress bar.
struct InputProgress {
  std::uint64_t records = 0;
  std::uint64_t bytes_read = 0;
  std::optional<std::uint64_t> bytes_total;
  std::optional<std::uint64_t> records_total;  ///< where the window has an end; says more than bytes do

  /// Of what is to be read; empty where nobody knows.
  [[nodiscard]] std::optional<double> share() const;
};

/// Shows releases that have been published, and only those. A line for each power of two of their count, so that
/// a stream of any length gives some ten to thirty lines.
class PathPrinter {
 public:
  /// What the first column counts.
  enum class Count { records, steps };
  /// `lines` receives the path (null: nothing); the bar goes to standard error where that is a terminal.
  explicit PathPrinter(std::FILE* lines, Count count = Count::records);

  /// Lines of releases, whole, in step order, just published.
  void published(std::string_view outbox);
  /// Redraws the bar at most ten times a second.
  void progress(const InputProgress& input);
  /// The line of the last release, if it has not been shown, and no bar any more.
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
  MainPath path_;  // for the bar
};

using check::with_separators;
/// Four decimals, or scientific where that would hide the value.
[[nodiscard]] std::string shown_number(double value);

}  // namespace nustream::console
