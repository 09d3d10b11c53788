// How a document of settings is read from its file, and how --set changes it.
#include "config/settings_document.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include <sys/stat.h>

#include "config/settings_tree.h"
#include "error.h"
#include "nustream/record/number.h"
#include "publish/json_text.h"
#include "shell_word.h"

namespace nustream::config {

void refuse_line(std::string line) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  std::replace_if(line.begin(), line.end(), is_control, ' ');
  throw Failure(Exit::configuration, line);
}

namespace {

std::string read_file(const std::string& file) {
  // A stream can be opened on a folder, and would fail only when it is read, with a message about something else.
  struct stat status {};
  if (stat(file.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
    const bool is_of_a_run = stat((file + "/state").c_str(), &status) == 0;
    throw Failure(Exit::io, is_of_a_run
                                ? file + ": is a state folder, and no configuration (TOML): nustream inspect " +
                                      in_shell(file) + " shows what is in it"
                                : file + ": is a directory; name the configuration file in it");
  }
  std::ifstream input(file, std::ios::binary);
  std::ostringstream text;
  // Copying an empty file would count as a failure; it is a file that lacks its settings.
  const bool empty = input && input.peek() == std::ifstream::traits_type::eof() && !input.bad();
  if (!empty && (!input || !(text << input.rdbuf()))) {
    throw Failure(Exit::io, file + ": cannot be read: " + std::strerror(errno) + "; name a configuration file");
  }
  return text.str();
}

/// Parses TOML, and reports a fault by file, line and column.
toml::table parse(std::string_view text, std::string_view name) {
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    const auto& begin = error.source().begin;
    refuse_line(std::string(name) + ":" + std::to_string(begin.line) + ":" + std::to_string(begin.column) +
                ": not TOML: " + std::string(error.description()) + hint_for_point(text, begin.line));
  }
}

}  // namespace

toml::table parse_file(const std::string& file) {
  const std::string text = read_file(file);
  const auto refuse_data = [&] {
    const std::string found = told_as_data(text, file);
    if (!found.empty()) throw Failure(Exit::configuration, found);
  };
  if (text.empty()) refuse_data();
  try {
    return parse(text, file);
  } catch (const Failure&) {
    // TOML is tried first. Only a text that is not TOML is looked at as data.
    refuse_data();
    throw;
  }
}

namespace {

/// The value of an override: TOML where it parses as TOML, else the text itself.
toml::table parse_value(const std::string& text, const std::string& shown_as) {
  try {
    return toml::parse("value = " + text, shown_as);
  } catch (const toml::parse_error&) {
    // TOML has no number that begins with its point, so .5 is read as 0.5.
    // The number is read by the program's own rules first, so that a text such as .5.1 stays one.
    const bool lacks_zero =
        text.size() > 1 && text.front() == '.' && std::isdigit(static_cast<unsigned char>(text[1]));
    if (lacks_zero && record::parse_number("0" + text)) return parse_value("0" + text, shown_as);
    std::string quoted;
    publish::append_string(text, quoted);  // every string of JSON is one of TOML
    try {
      return toml::parse("value = " + quoted, shown_as);
    } catch (const toml::parse_error& error) {
      refuse_line(shown_as + ": " + std::string(error.description()) + "; write it as TOML, in UTF-8");
    }
  }
}

/// Whether a part of a key is a place in an array.
bool is_index(std::string_view part) {
  return !part.empty() && std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::isdigit(c); });
}

/// Puts a section into the table that the file does not have. A fault in it is then one of --set. Its place has the
/// key alone: the value may be a password, and stands in the places of values only.
toml::node* add_section(toml::table& table, const std::string& name, const std::string& text) {
  toml::table made = toml::parse("value = {}", "--set " + text.substr(0, text.find('=')));
  toml::table& section = *made.get_as<toml::table>("value");
  section.is_inline(false);
  return &table.insert_or_assign(name, std::move(section)).first->second;
}

/// The table that holds the last part of `parts`; tables on the way are made where they are missing.
toml::table* descend(toml::table& root, const std::vector<std::string>& parts, const std::string& text) {
  toml::table* table = &root;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    toml::node* node = table->get(parts[i]);
    // A section that the file does not have is made, so that --set can name any setting.
    if (node == nullptr) node = add_section(*table, parts[i], text);
    // A number behind an array is a place in it: features.0.center. The number is taken together
    // with the array's name.
    if (toml::array* array = node->as_array(); array != nullptr && i + 2 < parts.size() && is_index(parts[i + 1])) {
      const std::size_t index = std::stoul(parts[++i]);
      node = index < array->size() ? array->get(index) : nullptr;
    }
    table = node == nullptr ? nullptr : node->as_table();
    if (table == nullptr) refuse_line("--set " + text + ": " + parts[i] + " is not a section");
  }
  return table;
}

/// In --set a dot divides the parts of a key, even inside quotation marks. Only librdkafka has names with dots.
void refuse_quoted(const std::string& text, std::size_t equals) {
  const std::string key = text.substr(0, equals);
  if (key.find_first_of("\"'") == std::string::npos) return;
  std::string name = key.starts_with("kafka.librdkafka.") ? key.substr(key.find_first_of("\"'")) : std::string();
  std::erase_if(name, [](char c) { return c == '"' || c == '\''; });
  // The value is left out, as it may be a password.
  throw Failure(Exit::usage, "--set " + key + "=…: a key is written without quotation marks" +
                                 (name.empty() ? ", as section.key=value"
                                               : "; a property of librdkafka is -X " + name + "=VALUE"));
}

}  // namespace

void apply_override(toml::table& root, const std::string& text) {
  const std::size_t equals = text.find('=');
  // The value may hold further equals signs; the first one ends the key.
  if (equals == std::string::npos || equals == 0) {
    throw Failure(Exit::usage, "--set " + text + ": write it as section.key=value");
  }
  refuse_quoted(text, equals);
  std::vector<std::string> parts;
  std::istringstream path(text.substr(0, equals));
  for (std::string part; std::getline(path, part, '.');) parts.push_back(part);
  toml::table* table = descend(root, parts, text);
  toml::table value = parse_value(text.substr(equals + 1), "--set " + text);
  // The node moves into the document with its source, "--set …", which where() and is_override() read later.
  value.get("value")->visit([&](auto& node) { table->insert_or_assign(parts.back(), std::move(node)); });
}

}  // namespace nustream::config
