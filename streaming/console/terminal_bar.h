// One line on standard error that is drawn over and over, where that is a terminal; elsewhere nothing.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "console/terminal.h"

namespace nustream::console {

class TerminalBar {
 public:
  /// `wanted` and standard error a terminal whose cursor moves.
  explicit TerminalBar(bool wanted);
  ~TerminalBar() { clear(); }
  TerminalBar(const TerminalBar&) = delete;
  TerminalBar& operator=(const TerminalBar&) = delete;

  [[nodiscard]] bool is_on() const noexcept { return on_; }
  /// At most ten times a second, and not within the first half second. Such a call is followed by draw().
  [[nodiscard]] bool is_due();
  /// As much of `line` as one line has room for: more would leave lines behind.
  void draw(std::string_view line);
  void clear();
  /// Of the terminal, now: it may have been made wider or narrower.
  [[nodiscard]] static chart::TextStyle style() { return style_of(stderr); }
  /// Since the beginning, seconds.
  [[nodiscard]] double seconds() const;

  /// "[======      ]  50%  ", and "  ETA 1:05": how far, and how long yet, as `share` was done so far. A narrow
  /// terminal has no room for the bar itself.
  [[nodiscard]] std::string bar(double share) const;
  [[nodiscard]] std::string eta(double share) const;

 private:
  bool on_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point drawn_at_;
};

}  // namespace nustream::console
