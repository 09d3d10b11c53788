#include "console/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>
#include <string_view>

namespace nustream::console {
namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::size_t columns_of(std::FILE* stream) {
  struct winsize size {};
  if (::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const std::string_view told = variable("COLUMNS");
  const long columns = told.empty() ? 0 : std::strtol(told.data(), nullptr, 10);
  return columns > 0 && columns < 10'000 ? static_cast<std::size_t>(columns) : 80;
}

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

}  // namespace nustream::console
