// One line on standard error that is drawn over again and again. It shows nothing where that is not a terminal.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "console/terminal.h"

namespace nustream::console {

class TerminalBar {
 public:
  /// The bar is on where it is `wanted` and standard error is a terminal whose cursor moves.
  explicit TerminalBar(bool wanted);
  ~TerminalBar() { clear(); }
  TerminalBar(const TerminalBar&) = delete;
  TerminalBar& operator=(const TerminalBar&) = delete;

  [[nodiscard]] bool is_on() const noexcept { return on_; }
  /// Whether it is time to draw: at most ten times a second, and not within the first half second. draw() has to
  /// follow where it is.
  [[nodiscard]] bool is_due();
  /// Draws as much of `line` as one line has room for; more would leave lines behind.
  void draw(std::string_view line);
  void clear();
  /// What the terminal can show now: it may have been made wider or narrower since the last call.
  [[nodiscard]] static chart::TextStyle style() { return style_of(stderr); }
  /// Seconds since the bar was made.
  [[nodiscard]] double seconds() const;

  /// "[======      ]  50%  " and "  ETA 1:05", where `share` of the work is done: how far it is, and how long it will
  /// take if it goes on as fast. A narrow terminal shows the percentage alone.
  [[nodiscard]] std::string bar(double share) const;
  [[nodiscard]] std::string eta(double share) const;

 private:
  bool on_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point drawn_at_;
};

}  // namespace nustream::console
