// What a terminal can show, from its own answers and the environment, and a line that is drawn over again.
#include "console/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace nustream::console {
namespace {

/// An environment variable; "" where it is not set.
std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

/// The width of the stream's terminal. A pipe has none; then COLUMNS may tell how wide the reader's is.
std::size_t columns_of(std::FILE* stream) {
  struct winsize size {};
  if (::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const std::string_view told = variable("COLUMNS");
  // Anything that is no sensible number counts as not told.
  const long columns = told.empty() ? 0 : std::strtol(told.data(), nullptr, 10);
  return columns > 0 && columns < 10'000 ? static_cast<std::size_t>(columns) : 80;
}

/// Whether the locale is one of UTF-8, by the variables in the order in which they count (POSIX).
bool is_utf8() {
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value(variable(name));
    if (value.empty()) continue;
    std::ranges::transform(value, value.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace

bool can_redraw(std::FILE* stream) {
  return ::isatty(::fileno(stream)) == 1 && variable("TERM") != "dumb";
}

chart::TextStyle style_of(std::FILE* stream) {
  chart::TextStyle style;
  style.columns = columns_of(stream);
  style.unicode = is_utf8();
  style.colour = can_redraw(stream) && variable("NO_COLOR").empty();
  return style;
}

namespace {

constexpr auto quiet_for = std::chrono::milliseconds(500);
constexpr auto drawn_every = std::chrono::milliseconds(100);
constexpr std::size_t width = 24;
constexpr std::size_t least_columns = 64;  // a narrower terminal shows no bar beside the words

/// As many whole parts of the line as fit; two blanks separate parts. A part is never cut, because half of it could
/// say something else.
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
  // A run that ends within half a second shows no bar at all.
  if (now - started_ < quiet_for || now - drawn_at_ < drawn_every) return false;
  drawn_at_ = now;
  return true;
}

void TerminalBar::draw(std::string_view line) {
  const chart::TextStyle now = style();
  // The last column stays free, since some terminals go on to the next line once it is written.
  const std::size_t room = now.columns - std::min<std::size_t>(now.columns, 1);
  // Back to the beginning of the line, which is cleared to its end, and then the new text.
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
  // A narrow terminal has no room for the bar beside the words.
  if (style().columns < least_columns) return fmt::format("{:>3.0f}%  ", 100 * share);
  const auto filled = static_cast<std::size_t>(share * width);
  return fmt::format("[{:=<{}}{: <{}}] {:>3.0f}%  ", "", filled, "", width - filled, 100 * share);
}

std::string TerminalBar::eta(double share) const {
  // Nothing is done yet, and nothing tells how fast it will go.
  if (!(share > 0)) return {};
  const auto whole = static_cast<std::uint64_t>(seconds() * (1 - share) / share);
  return fmt::format("  ETA {}:{:02}", whole / 60, whole % 60);
}

}  // namespace nustream::console
