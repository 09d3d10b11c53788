// Matches the names that the settings want with those of a header, and refuses a first line that is none.
#include "decode/csv_columns.h"

#include <algorithm>
#include <limits>
#include <set>

#include "decode/csv_line.h"
#include "decode/delimiters.h"
#include "decode/file_kind.h"
#include "decode/header_hints.h"
#include "error.h"
#include "nustream/record/number.h"

namespace nustream::decode {
namespace {

/// Tabs are common delimiters and no sign of binary data.
bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 && c != '\t';
}

/// The failure for a first line that is no header.
Failure no_header(const std::string& path, const std::string& what, const std::string& next) {
  return {Exit::data, "'" + path + "' has no header: its first line " + what + "; " + next};
}

constexpr const char* add_one = "add one, or set stream.header = false and name the columns in stream.columns";

/// Throws where the line holds characters that no header has.
void require_text(std::string_view line, char delimiter, const std::string& path) {
  if (without_blanks(line).empty()) throw no_header(path, "is empty", add_one);
  // Some tools divide columns by this character. It would otherwise be reported as binary data.
  if (line.find('\1') != std::string_view::npos && delimiter != '\1') {
    throw no_header(path, "is divided by the character U+0001", "set stream.delimiter = \"\\u0001\"");
  }
  if (line.ends_with('\r')) {
    throw no_header(path, "ends in doubled carriage returns", "take them away: sed 's/\\r*$//' FILE > FILE.csv");
  }
  if (std::any_of(line.begin(), line.end(), [&](char c) { return is_control(c) && c != delimiter; })) {
    throw no_header(path, "holds control characters, as binary data do",
                    "look at the file, and give it CSV or JSON lines");
  }
}

/// The failure for a first line that is no record of CSV. Most often its fields are in quotes, and another character
/// divides them. Without a header its records could not be read either, so that this is not proposed.
Failure undivided(std::string_view line, char delimiter, const std::string& path, CsvFault fault) {
  if (const auto other = other_delimiter(line, delimiter)) {
    return {Exit::configuration, "'" + path + "': its header is divided by '" + typed_delimiter(*other) +
                                     "', and not by '" + typed_delimiter(delimiter) + "': " + set_delimiter(*other)};
  }
  const bool has_space = line.find(std::string("\" ") + delimiter) != std::string_view::npos;
  const std::string next = fault == CsvFault::open_quote
                               ? "close it; where a name goes on over the end of its line, set stream.framing = "
                                 "\"trusted\""
                           : has_space ? take_spaces_away(delimiter)
                                       : "mend that line: a quotation mark within a name in quotes is written twice";
  return no_header(path, std::string("is not a CSV record: ") + description(fault), next);
}

/// Throws Failure(data) where the header is the word with which the files of another program begin, and so no header.
/// A single letter may be the name of a column that is misspelt, unless more columns than one are wanted.
void refuse_word_of_other_kinds(const std::vector<std::string>& names, const std::string& where,
                                std::span<const std::string> configured) {
  const std::set<std::string> wanted(configured.begin(), configured.end());
  const bool is_word = names.size() == 1 && (names.front().size() > 1 || wanted.size() > 1);
  const std::string kind = is_word ? kind_by_word(names.front()) : std::string();
  if (!kind.empty()) throw Failure(Exit::data, "the one word of " + where + " is the beginning of " + kind);
}

}  // namespace

std::vector<std::string> read_header(std::string_view line, char delimiter, const std::string& path) {
  line = without_mark(without_line_end(line));
  require_text(line, delimiter, path);
  std::vector<std::string_view> fields;
  std::string unquoted;
  const CsvFault fault = split_csv_line(line, delimiter, std::numeric_limits<std::size_t>::max(), fields, unquoted);
  if (fault != CsvFault::none) throw undivided(line, delimiter, path, fault);
  const auto is_number = [](std::string_view field) { return record::parse_number(field).has_value(); };
  // A first line of numbers is a record of a file without a header. If it were taken for names, one record would be
  // lost and its numbers shown as names.
  if (std::all_of(fields.begin(), fields.end(), is_number)) {
    throw no_header(path, "holds nothing but numbers", add_one);
  }
  std::vector<std::string> names;
  names.reserve(fields.size());
  for (const std::string_view field : fields) names.emplace_back(without_blanks(field));
  return names;
}

std::size_t find_column(const std::vector<std::string>& names, const std::string& column, const std::string& where,
                        std::span<const std::string> configured, bool may_show, char delimiter) {
  const auto found = std::find(names.begin(), names.end(), column);
  if (found == names.end()) {
    refuse_word_of_other_kinds(names, where, configured);
    const HeaderHints hints(names, configured, may_show, delimiter);
    const std::string meant = hints.on_column(column);
    // Of one column there is nothing more to list.
    const bool is_all = names.size() == 1 && !meant.empty();
    throw Failure(Exit::configuration, "no column '" + column + "' in " + where + meant +
                                           (is_all ? "" : hints.on_header()) + "; name one that is there");
  }
  // With two columns of one name nobody can tell which of them is meant.
  if (std::find(found + 1, names.end(), column) != names.end()) {
    throw Failure(Exit::configuration,
                  "column '" + column + "' is twice in " + where + "; give its columns different names");
  }
  return static_cast<std::size_t>(found - names.begin());
}

void require_columns(const std::vector<std::string>& names, const std::string& where,
                     std::span<const std::string> configured, bool may_show, char delimiter) {
  std::vector<std::string> missing;
  for (const std::string& column : configured) {
    const auto is_it = [&](const std::string& name) { return name == column; };
    if (std::none_of(names.begin(), names.end(), is_it) && std::none_of(missing.begin(), missing.end(), is_it)) {
      missing.push_back(column);
    }
  }
  // find_column() says more of a single one.
  if (missing.size() < 2) return;
  refuse_word_of_other_kinds(names, where, configured);
  const HeaderHints hints(names, configured, may_show, delimiter);
  std::string list;
  for (const std::string& column : missing) {
    list += (list.empty() ? "'" : ", '") + column + "'" + hints.on_column(column);
  }
  throw Failure(Exit::configuration,
                "no columns " + list + " in " + where + hints.on_header() + "; name columns that are there");
}

}  // namespace nustream::decode
