#include "config/short_numbers.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace nustream::config {
namespace {

/// Where the quoted text that begins at `from` ends: behind its closing quote. Between single quotes a backslash is a
/// letter. Three quotes in a row count as an empty text and another one after it, which ends at the same place.
std::size_t end_of_quoted(std::string_view text, std::size_t from) {
  const char quote = text[from];
  std::size_t at = from + 1;
  while (at < text.size() && text[at] != quote) at += quote == '"' && text[at] == '\\' ? 2U : 1U;
  return std::min(at + 1, text.size());
}

/// The shortest text of a number that is written long; empty for any other word.
std::optional<std::string> shortened(std::string_view word) {
  if (word.size() <= 16 || word.find_first_of(".e") == std::string_view::npos) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

}  // namespace

std::string with_short_numbers(std::string_view toml) {
  constexpr std::string_view of_words = "+-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_:";
  std::string out;
  for (std::size_t at = 0; at < toml.size();) {
    const bool quoted = toml[at] == '"' || toml[at] == '\'';
    std::size_t end = quoted ? end_of_quoted(toml, at) : std::min(toml.find_first_not_of(of_words, at), toml.size());
    end = std::max(end, at + 1);
    const std::string_view word = toml.substr(at, end - at);
    const auto shorter = quoted ? std::nullopt : shortened(word);
    out += shorter ? *shorter : std::string(word);
    at = end;
  }
  return out;
}

}  // namespace nustream::config
