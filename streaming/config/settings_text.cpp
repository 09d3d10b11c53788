// Works on the text of a file instead of its tree: shortens numbers that a printer wrote long, and looks at a text
// that is no TOML, so that the message can say what was probably meant.
#include "config/settings_tree.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "shell_word.h"

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

/// The folder that holds the file, as a command takes it.
std::string folder_of(const std::string& file) {
  const std::string folder = std::filesystem::path(file).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// The first line that holds something, without a byte order mark and blanks before it.
std::string_view first_line(std::string_view text) {
  // The byte order mark, which some programs write before UTF-8.
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  return text.substr(begin, text.find('\n', begin) - begin);
}

/// A kind of file that nustream itself writes: what it is, and what reads it.
struct OwnKind {
  std::string what;
  std::string next;
};

/// The kind of a file that begins with a magic number of nustream's own. `shows` is the command for the state folder
/// that the file would be in.
std::optional<OwnKind> own_bytes(std::string_view text, const std::string& file, const std::string& shows) {
  if (text.starts_with("NUSTATE\0"sv)) return OwnKind{"the sealed state of a run", shows};
  if (text.starts_with("NUUSERS\0"sv)) return OwnKind{"a run's store of users", shows};
  if (text.starts_with("NUWITNS\0"sv)) {
    return OwnKind{"a witness, which knows what the run of a state folder has spent",
                   "nustream inspect STATE_FOLDER asks it, with --witness " + in_shell(folder_of(file)) +
                       " where it is not beside the key"};
  }
  if (text.starts_with("NUSEGMT\0"sv)) {
    return OwnKind{"a recorded segment of a topic", "nustream replay CONFIG " + in_shell(file) + " reads it"};
  }
  if (text.starts_with("NULOCAL\0"sv)) {
    return OwnKind{"the sums of nustream local collect", "nustream local collect CONFIG goes on from them"};
  }
  // A key is 32 random bytes, which are hardly ever all of them letters and signs.
  const auto is_letter = [](char c) { return c >= ' ' && c <= '~'; };
  if (text.size() == 32 && !std::all_of(text.begin(), text.end(), is_letter)) {
    // In a state folder the key has this name, and elsewhere any other one.
    if (std::filesystem::path(file).filename() == "key") return OwnKind{"the key of a run", shows};
    return OwnKind{"a key", "nustream inspect STATE_FOLDER takes it with --key-file " + in_shell(file)};
  }
  return std::nullopt;
}

/// The kind of a file whose first line is JSON that nustream itself writes.
std::optional<OwnKind> own_lines(std::string_view line, const std::string& file, const std::string& shows) {
  const auto has = [line](std::string_view key) {
    return line.find("\"" + std::string(key) + "\":") != std::string_view::npos;
  };
  if (has("epoch") && has("estimate")) return OwnKind{"a file of releases", shows};
  if (has("epoch") && has("rho_limit")) return OwnKind{"the ledger of a run", shows};
  if (std::filesystem::path(file).filename() == "rejects.jsonl")
    return OwnKind{"a run's list of unusable records", shows};
  if (!line.starts_with("{\"format\":")) return std::nullopt;
  if (has("budget") && has("adjacency")) {
    return OwnKind{"an account that streams share", "nustream account show " + in_shell(file) + " shows it"};
  }
  if (has("mechanism") && (has("id") || has("records"))) {
    return OwnKind{"reports of local privacy", "nustream local collect CONFIG " + in_shell(file) + " counts them"};
  }
  return std::nullopt;
}

/// The kind of a file that nustream itself writes; nothing for any other file.
std::optional<OwnKind> own_kind(std::string_view text, const std::string& file) {
  const std::string shows = "nustream inspect " + in_shell(folder_of(file)) + " shows what is in its folder";
  // It is empty, and its name alone tells what it is.
  if (text.empty() && std::filesystem::path(file).filename() == "lock") return OwnKind{"the lock of a run", shows};
  if (auto kind = own_bytes(text, file, shows)) return kind;
  const std::string_view line = first_line(text);
  return line.starts_with('{') ? own_lines(line, file, shows) : std::nullopt;
}

/// Says in words what kind of data the text is; "" where it may be settings.
std::string kind_of(std::string_view text) {
  if (is_compressed(text)) return "a compressed file";
  if (text.find('\0') != std::string_view::npos) return "a file of bytes that are no text";
  const std::string_view line = first_line(text);
  if (line.starts_with('{')) return "JSON lines";
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
  if (const auto own = own_kind(text, file)) {
    return file + ": this is " + own->what + ", and no configuration (TOML): " + own->next;
  }
  const std::string kind = kind_of(text);
  if (kind.empty()) return {};
  return file + ": this is " + kind +
         ", and the first argument is a configuration (TOML): without one, nustream fit " + in_quotes(file) +
         " --target COLUMN; with one, nustream COMMAND CONFIG " + in_quotes(file);
}

}  // namespace nustream::config
