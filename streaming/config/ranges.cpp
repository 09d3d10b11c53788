// Reads the text of what was measured. It has one line for each setting, such as "features.0.center=0.7", and a line
// "rule DIGEST", or "stopped REASON" where the measuring was stopped.
#include "config/ranges.h"

namespace nustream::config {
namespace {

constexpr std::string_view rule = "rule ";
constexpr std::string_view stopped = "stopped ";

/// Calls `take` with every line.
template <class Take>
void each_line(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    take(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

/// What follows the prefix in the last line that begins with it; empty where none does.
std::string behind(std::string_view prefix, std::string_view ranges) {
  std::string found;
  each_line(ranges, [&](std::string_view line) {
    if (line.starts_with(prefix)) found = line.substr(prefix.size());
  });
  return found;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> measured_settings(std::string_view ranges) {
  std::vector<std::pair<std::string, std::string>> settings;
  each_line(ranges, [&](std::string_view line) {
    const std::size_t equals = line.find('=');
    // A reason may hold an equals sign, so that the prefixes are looked at too.
    if (equals == std::string_view::npos || line.starts_with(rule) || line.starts_with(stopped)) return;
    settings.emplace_back(line.substr(0, equals), line.substr(equals + 1));
  });
  return settings;
}

std::string rule_of(std::string_view ranges) {
  return behind(rule, ranges);
}

std::string stopped_by(std::string_view ranges) {
  return behind(stopped, ranges);
}

void append_ranges(std::string_view ranges, publish::JsonWriter& json) {
  if (ranges.empty()) return;
  const auto object = json.object("ranges");
  for (const auto& [key, value] : measured_settings(ranges)) json.raw(key, value);
}

}  // namespace nustream::config
