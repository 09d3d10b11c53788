// Works on the text of a file instead of its tree: shortens numbers that a printer wrote long, and looks at a text
// that is no TOML, so that the message can say what was probably meant.
#include "config/settings_tree.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

namespace nustream::config {
namespace {

/// Where the quoted text that begins at `from` ends: after its closing quote. Between single quotes a backslash is a
/// letter. Three quotes in a row count as an empty text and another quoted text after it, which ends at the same
/// place.
std::size_t end_of_quoted(std::string_view text, std::size_t from) {
  const char quote = text[from];
  std::size_t at = from + 1;
  while (at < text.size() && text[at] != quote) at += quote == '"' && text[at] == '\\' ? 2U : 1U;
  return std::min(at + 1, text.size());
}

/// The shortest text of a number that is written long; empty for any other word.
std::optional<std::string> shortened(std::string_view word) {
  // Whole numbers are left alone, since a double may not hold all of their digits.
  if (word.size() <= 16 || word.find_first_of(".e") == std::string_view::npos) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  const std::string text = fmt::format("{}", value);
  // Without a point TOML would read a whole number, which is another type.
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

}  // namespace

std::string with_short_numbers(std::string_view toml) {
  constexpr std::string_view of_words = "+-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_:";
  std::string out;
  for (std::size_t at = 0; at < toml.size();) {
    const bool quoted = toml[at] == '"' || toml[at] == '\'';
    std::size_t end = quoted ? end_of_quoted(toml, at) : std::min(toml.find_first_not_of(of_words, at), toml.size());
    // A character that is neither a word nor a quote is copied alone.
    end = std::max(end, at + 1);
    const std::string_view word = toml.substr(at, end - at);
    const auto shorter = quoted ? std::nullopt : shortened(word);
    out += shorter ? *shorter : std::string(word);
    at = end;
  }
  return out;
}

namespace {

using std::string_view_literals::operator""sv;

bool is_compressed(std::string_view text) {
  // The first bytes of gzip, zstd, xz, bzip2 and zip files.
  constexpr std::array magic{"\x1f\x8b"sv, "\x28\xb5\x2f\xfd"sv, "\xfd\x37zXZ"sv, "BZh"sv, "PK\x03\x04"sv};
  return std::any_of(magic.begin(), magic.end(), [&](std::string_view each) { return text.starts_with(each); });
}

/// The first line that holds something, without a byte order mark and blanks before it.
std::string_view first_line(std::string_view text) {
  // The byte order mark, which some programs write before UTF-8.
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  return text.substr(begin, text.find('\n', begin) - begin);
}

/// Says in words what kind of file the text is of; "" where it may be settings.
std::string kind_of(std::string_view text) {
  if (is_compressed(text)) return "a compressed file";
  if (text.find('\0') != std::string_view::npos) return "a file of bytes that are no text";
  const std::string_view line = first_line(text);
  if (line.starts_with('{')) {
    const bool is_release =
        line.find("\"epoch\":") != std::string_view::npos && line.find("\"estimate\":") != std::string_view::npos;
    return is_release ? "a file of releases" : "JSON lines";
  }
  // A line of TOML may begin so too, as a section does: "[stream]". An array of records has a
  // brace behind the bracket.
  if (line.starts_with('[')) {
    const std::size_t inside = line.find_first_not_of(" \t", 1);
    return inside != std::string_view::npos && line[inside] == '{' ? "a JSON array" : "";
  }
  // Settings have an equals sign in their first line, or a comment; a header of CSV has neither.
  const bool is_divided = line.find_first_of(",;\t|") != std::string_view::npos;
  return is_divided && !line.starts_with('#') && line.find('=') == std::string_view::npos ? "CSV" : "";
}

}  // namespace

std::string hint_for_point(std::string_view text, std::size_t line) {
  // Removes the lines before the one that is meant.
  for (; line > 1 && text.find('\n') != std::string_view::npos; --line) text.remove_prefix(text.find('\n') + 1);
  text = text.substr(0, text.find('\n'));
  const std::size_t point = text.find_first_not_of(" \t+-", text.find('=') + 1);
  if (point == std::string_view::npos || text[point] != '.') return {};
  const std::size_t end = std::min(text.find_first_not_of("0123456789", point + 1), text.size());
  if (end == point + 1) return {};
  const std::string number(text.substr(point, end - point));
  return "; write 0" + number + " for " + number;
}

std::string told_as_data(std::string_view text, const std::string& file) {
  const std::string kind = kind_of(text);
  if (kind.empty()) return {};
  const std::string is = file + ": this is " + kind + ", and the first argument is a configuration (TOML): ";
  if (kind == "a file of releases") {
    const std::string folder = std::filesystem::path(file).parent_path().string();
    return is + "nustream inspect '" + (folder.empty() ? "." : folder) + "' shows what is in its folder";
  }
  return is + "without one, nustream fit '" + file + "' --target COLUMN; with one, nustream COMMAND CONFIG '" + file +
         "'";
}

}  // namespace nustream::config
