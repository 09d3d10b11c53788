// What the terminal behind a stream can show.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

#include "chart/text.h"

namespace nustream::console {

/// Finds out what the terminal can show. Columns are those of the terminal, of COLUMNS, or 80. Unicode is shown where
/// the first of LC_ALL, LC_CTYPE and LANG that is set names UTF-8. Colours are shown where the stream is a terminal
/// other than "dumb" and NO_COLOR is not set.
[[nodiscard]] chart::TextStyle style_of(std::FILE* stream);

/// Whether a line can be drawn over again: the stream is a terminal that moves its cursor.
[[nodiscard]] bool can_redraw(std::FILE* stream);

// One line on standard error that is drawn over again and again. It shows nothing where that is not a terminal.
class TerminalBar {
 public:
  /// The bar is on where it is `wanted` and standard error is a terminal whose cursor moves.
  explicit TerminalBar(bool wanted);
  ~TerminalBar() { clear(); }
  TerminalBar(const TerminalBar&) = delete;
  TerminalBar& operator=(const TerminalBar&) = delete;

  [[nodiscard]] bool is_on() const noexcept { return on_; }
  /// Whether it is time to draw: at most ten times a second, and not within the first half second. Where it is true,
  /// draw() has to follow.
  [[nodiscard]] bool is_due();
  /// Draws as much of `line` as one line has room for; more would leave lines behind.
  void draw(std::string_view line);
  void clear();
  /// What the terminal can show now: it may have been made wider or narrower since the last call.
  [[nodiscard]] static chart::TextStyle style() { return style_of(stderr); }
  /// Seconds since the bar was made.
  [[nodiscard]] double seconds() const;

  /// "[======      ]  50%  " and "  ETA 1:05", where `share` of the work is done. The ETA is the time that is left if
  /// the work goes on as fast. A narrow terminal shows the percentage alone.
  [[nodiscard]] std::string bar(double share) const;
  [[nodiscard]] std::string eta(double share) const;

 private:
  bool on_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point drawn_at_;
};

}  // namespace nustream::console
