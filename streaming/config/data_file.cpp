#include "config/data_file.h"

#include <algorithm>
#include <array>
#include <filesystem>

namespace nustream::config {
namespace {

using std::string_view_literals::operator""sv;

bool is_compressed(std::string_view text) {
  constexpr std::array magic{"\x1f\x8b"sv, "\x28\xb5\x2f\xfd"sv, "\xfd\x37zXZ"sv, "BZh"sv, "PK\x03\x04"sv};
  return std::any_of(magic.begin(), magic.end(), [&](std::string_view each) { return text.starts_with(each); });
}

std::string_view first_line(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  return text.substr(begin, text.find('\n', begin) - begin);
}

/// What the text is, in words; "" where it may be settings.
std::string kind_of(std::string_view text) {
  if (is_compressed(text)) return "a compressed file";
  if (text.find('\0') != std::string_view::npos) return "a file of bytes that are no text";
  const std::string_view line = first_line(text);
  if (line.starts_with('{')) {
    const bool is_release =
        line.find("\"epoch\":") != std::string_view::npos && line.find("\"estimate\":") != std::string_view::npos;
    return is_release ? "a file of releases" : "JSON lines";
  }
  if (line.starts_with('[')) {
    const std::size_t inside = line.find_first_not_of(" \t", 1);
    return inside != std::string_view::npos && line[inside] == '{' ? "a JSON array" : "";
  }
  const bool is_divided = line.find_first_of(",;\t|") != std::string_view::npos;
  return is_divided && !line.starts_with('#') && line.find('=') == std::string_view::npos ? "CSV" : "";
}

}  // namespace

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
