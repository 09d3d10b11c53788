// Reads [stream]. Most of the work is refusing combinations that have no meaning, or that would let a fault of one
// record change how others are read.
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "config/read_sections.h"

namespace nustream::config {
namespace {

/// The character that `text` is or stands for, as shells pass it on: \t, \u0001, tab. Empty where `text` is no single
/// character.
std::optional<char> read_character(const std::string& text) {
  if (text == "\\t" || text == "tab") return '\t';
  if (text == "\\u0001") return '\x01';
  return text.size() == 1 ? std::optional(text.front()) : std::nullopt;
}

/// Whether the name has a character that the shell's patterns give a meaning.
bool is_pattern(const std::string& name) {
  return name.find_first_of("*?[") != std::string::npos;
}

/// The files whose paths match, in the order of their bytes; `pattern` itself where a file has that name.
std::vector<std::string> matches(const std::string& pattern) {
  std::error_code unknown;
  // A file may have a name such as "a[1].csv". It is meant then, and no pattern.
  if (std::filesystem::exists(pattern, unknown)) return {pattern};
  // The pattern is that of shells, for example "2024-*.csv".
  glob_t found{};
  std::vector<std::string> files;
  if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0) {
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  // By bytes, in every locale: the order of files is the order of records, and a resumed run has
  // to find the same one.
  std::sort(files.begin(), files.end());
  return files;
}

/// Refuses **, which the patterns of glob() take for *: the files of all other levels would be missing without a
/// word.
void require_levels(const Section& section, const std::string& name, const std::string& path) {
  std::error_code unknown;
  if (name.find("**") == std::string::npos || std::filesystem::exists(path, unknown)) return;
  section.refuse("input",
                 "a pattern without **, which would stand for one level of folders alone; name each level by "
                 "itself, such as input = [\"*.csv\", \"*/*.csv\"]");
}

/// Reads stream.input: each name is one file, or a pattern for several.
std::vector<std::string> read_files(const Section& section, const std::string& config_file) {
  std::vector<std::string> files;
  for (const std::string& name : section.texts("input")) {
    const std::string path = beside(config_file, name);
    require_levels(section, name, path);
    const std::vector<std::string> matching = is_pattern(name) ? matches(path) : std::vector{path};
    if (matching.empty()) section.refuse("input", "a pattern that files match: none does '" + path + "'");
    files.insert(files.end(), matching.begin(), matching.end());
  }
  return files;
}

/// Reads the character between fields. A quote and a newline have meanings of their own.
char read_delimiter(const Section& section) {
  const auto text = section.text("delimiter");
  if (!text) return ',';
  const auto delimiter = read_character(*text);
  if (!delimiter || *delimiter == '"' || *delimiter == '\n') {
    section.refuse("delimiter", "one character, neither a quote nor a newline");
  }
  return *delimiter;
}

/// Reads what lines there are beside records, and how numbers are written.
void read_layout(const Section& section, InputSettings& input) {
  const bool in_columns = has_columns(input);
  input.header = section.flag("header").value_or(true);
  input.columns = section.texts("columns");
  if (!input.header && in_columns && input.columns.empty()) {
    section.refuse("header", "false only together with columns = [names…]");
  }
  input.skip_lines = section.count("skip_lines").value_or(0);
  input.comment = section.text("comment").value_or("");
  if (section.has("comment")) {
    // Lines above a header are public like the header. Elsewhere such lines would be records, and how many there
    // are would depend on data.
    if (!has_header(input))
      section.refuse("comment", "only for CSV with a header: else count the lines, and set skip_lines");
    if (input.comment.empty() || input.comment.find('\n') != std::string::npos) {
      section.refuse("comment", "the characters that lines above the header begin with, such as \"#\"");
    }
  }
  const std::string decimal = section.text("decimal").value_or(".");
  if (decimal != "." && decimal != ",") section.refuse("decimal", "\".\" or \",\"");
  // A dot would then be both the end of a field and a character of a number.
  if (decimal == "," && (!in_columns || input.delimiter == '.'))
    section.refuse("decimal", "\",\" only for CSV whose delimiter is no dot");
  input.decimal = decimal.front();
}

}  // namespace

InputSettings read_input(const Section& section, const std::string& file) {
  InputSettings input;
  input.files = read_files(section, file);
  input.format = section.choice<Format>(
      "format", Format::csv, {{"csv", Format::csv}, {"jsonl", Format::json_lines}, {"json", Format::json_lines}});
  input.delimiter = read_delimiter(section);
  read_layout(section, input);
  input.framing_is_trusted = section.choice<bool>("framing", false, {{"newline", false}, {"trusted", true}});
  if (input.framing_is_trusted && !has_columns(input)) {
    section.refuse("framing", "\"newline\": JSON has no line breaks inside a record's line");
  }
  // What joins the lines of a record knows how many lines to skip, but knows no comments: a quotation mark in one of
  // them could open a field.
  if (input.framing_is_trusted && !input.comment.empty()) {
    section.refuse("framing", "\"newline\" together with comment; pass the lines above the header by skip_lines");
  }
  input.time_column = section.text("time").value_or("");
  input.time_unit = read_time_unit(section, "time_unit").value_or(record::TimeUnit::seconds);
  if (section.has("time_unit") && input.time_column.empty())
    section.refuse("time_unit", "only with time = \"column\"");
  input.envelope = section.choice<Envelope>("envelope", Envelope::none,
                                            {{"none", Envelope::none}, {"debezium", Envelope::debezium}});
  if (input.envelope != Envelope::none && !has_members(input)) {
    section.refuse("envelope", "only with format = \"jsonl\": it is an object around the row");
  }
  input.times_public = section.flag("times_public").value_or(false);
  // Where a fault can hide a record's time, what is known of the time depends on the rest of the record.
  if (input.times_public && hides_times(input)) section.refuse("times_public", public_times_wanted);
  if (const auto bytes = section.count("record_bytes_max")) {
    if (*bytes == 0) section.refuse("record_bytes_max", "a whole number > 0");
    input.record_bytes_max = *bytes;
  }
  return input;
}

}  // namespace nustream::config
