// Texts as words of a shell's command. Commands that a person is told to type hold names of files, and a name may
// hold any character.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string>
#include <string_view>

namespace nustream {

/// `text` as it stands between two single quotes of a shell.
[[nodiscard]] inline std::string within_quotes(std::string_view text) {
  // Within single quotes a shell knows no escapes, so that a quote ends the text, stands escaped, and begins it anew.
  std::string escaped;
  for (const char c : text) escaped += c == '\'' ? "'\\''" : std::string(1, c);
  return escaped;
}

/// `text` as one word of a shell command, in single quotes.
[[nodiscard]] inline std::string in_quotes(std::string_view text) {
  return "'" + within_quotes(text) + "'";
}

/// `text` as one word of a shell command, in quotes where they are needed.
[[nodiscard]] inline std::string in_shell(const std::string& text) {
  const auto is_plain = [](unsigned char c) { return std::isalnum(c) != 0 || std::strchr("._-/=:,+", c) != nullptr; };
  return !text.empty() && std::all_of(text.begin(), text.end(), is_plain) ? text : in_quotes(text);
}

}  // namespace nustream
