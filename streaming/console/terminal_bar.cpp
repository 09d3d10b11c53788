#include "console/terminal_bar.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include <fmt/format.h>

namespace nustream::console {
namespace {

constexpr auto quiet_for = std::chrono::milliseconds(500);
constexpr auto drawn_every = std::chrono::milliseconds(100);
constexpr std::size_t width = 24;
constexpr std::size_t least_columns = 64;  // a narrower terminal shows no bar beside the words

/// As many whole parts of the line as fit; two blanks separate parts. A part that is cut would say something else.
std::string_view whole_parts(std::string_view line, std::size_t room) {
  while (chart::letters(line) > room) {
    const std::size_t end = line.rfind("  ");
    if (end == std::string_view::npos || end == 0) break;
    line = line.substr(0, end);
  }
  return line;
}

}  // namespace

TerminalBar::TerminalBar(bool wanted)
    : on_(wanted && can_redraw(stderr)), started_(std::chrono::steady_clock::now()) {}

bool TerminalBar::is_due() {
  if (!on_) return false;
  const auto now = std::chrono::steady_clock::now();
  if (now - started_ < quiet_for || now - drawn_at_ < drawn_every) return false;
  drawn_at_ = now;
  return true;
}

void TerminalBar::draw(std::string_view line) {
  const chart::TextStyle now = style();
  const std::size_t room = now.columns - std::min<std::size_t>(now.columns, 1);
  fmt::print(stderr, "\r\033[K{}", chart::fitted(whole_parts(line, room), room, now.unicode));
  std::fflush(stderr);
  drawn_ = true;
}

void TerminalBar::clear() {
  if (!drawn_) return;
  draw("");
  drawn_ = false;
}

double TerminalBar::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
}

std::string TerminalBar::bar(double share) const {
  if (style().columns < least_columns) return fmt::format("{:>3.0f}%  ", 100 * share);
  const auto filled = static_cast<std::size_t>(share * width);
  return fmt::format("[{:=<{}}{: <{}}] {:>3.0f}%  ", "", filled, "", width - filled, 100 * share);
}

std::string TerminalBar::eta(double share) const {
  if (!(share > 0)) return {};
  const auto whole = static_cast<std::uint64_t>(seconds() * (1 - share) / share);
  return fmt::format("  ETA {}:{:02}", whole / 60, whole % 60);
}

}  // namespace nustream::console
