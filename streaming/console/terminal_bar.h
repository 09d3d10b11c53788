// One line on standard error that is drawn over and over, where that is a terminal; elsewhere nothing.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace nustream::console {

class TerminalBar {
 public:
  /// `wanted` and standard error a terminal.
  explicit TerminalBar(bool wanted);
  ~TerminalBar() { clear(); }
  TerminalBar(const TerminalBar&) = delete;
  TerminalBar& operator=(const TerminalBar&) = delete;

  [[nodiscard]] bool is_on() const noexcept { return on_; }
  /// At most ten times a second, and not within the first half second. Such a call is followed by draw().
  [[nodiscard]] bool is_due();
  void draw(std::string_view line);
  void clear();
  /// Since the beginning, seconds.
  [[nodiscard]] double seconds() const;

  /// "[======      ]  50%  ", and "  ETA 1:05": how far, and how long yet, as `share` was done so far.
  [[nodiscard]] static std::string bar(double share);
  [[nodiscard]] std::string eta(double share) const;

 private:
  bool on_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point drawn_at_;
};

}  // namespace nustream::console
