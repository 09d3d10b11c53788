// Matches the names that the settings want with those of a header. Most of the file is about messages: a "header"
// may be somebody's record, so that its words are shown only where it is proven that they are names, or where the
// reader may see the data.
#include "decode/csv_columns.h"

#include <algorithm>
#include <limits>

#include "config/nearest.h"
#include "decode/csv_line.h"
#include "decode/file_kind.h"
#include "error.h"
#include "nustream/record/number.h"

namespace nustream::decode {
namespace {

std::string_view trim(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

/// Tabs are common delimiters and no sign of binary data.
bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 && c != '\t';
}

/// " (did you mean 'NAME'? it differs …)" for a name that looks like `column`; else "".
std::string looking_alike(const std::vector<std::string>& names, const std::string& column) {
  for (const std::string& name : names) {
    const std::string difference = config::difference_unseen(column, name);
    if (!difference.empty())
      return " (did you mean '" + name + "'? it differs " + difference + ": copy it from there)";
  }
  return {};
}

/// The names as in ", whose columns are 'a', 'b' and 3 more". Where one is a number, the line may be a record.
std::string listed(const std::vector<std::string>& names) {
  // A header may have thousands of names.
  constexpr std::size_t shown_max = 30;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), shown_max); ++i) list += (i == 0 ? "'" : ", '") + names[i] + "'";
  if (names.size() > shown_max) list += " and " + std::to_string(names.size() - shown_max) + " more";
  const bool holds_number = std::any_of(
      names.begin(), names.end(), [](const std::string& name) { return record::parse_number(name).has_value(); });
  const char* const record_instead =
      " (if that is a record, and there is no header: set stream.header = false and "
      "name the columns in stream.columns)";
  return ", whose columns are " + list + (holds_number ? record_instead : "");
}

/// Whether all columns that are wanted, at least two, are there up to differences that the eye does not see. The
/// texts are then names of columns.
bool is_proven(const std::vector<std::string>& names, std::span<const std::string> configured) {
  return configured.size() >= 2 && std::all_of(configured.begin(), configured.end(), [&](const std::string& name) {
           return std::find(names.begin(), names.end(), name) != names.end() || !looking_alike(names, name).empty();
         });
}

/// A hint for a header of one column whose name holds the delimiter, so that the whole line stands in quotes. Either
/// each line was written as the one field of another CSV file, or the line is a title.
std::string one_text(const std::string& name, char delimiter, std::span<const std::string> configured) {
  std::vector<std::string_view> fields;
  std::string unquoted;
  static_cast<void>(split_csv_line(name, delimiter, std::numeric_limits<std::size_t>::max(), fields, unquoted));
  const bool are_names = std::any_of(fields.begin(), fields.end(), [&](std::string_view field) {
    return std::find(configured.begin(), configured.end(), trim(field)) != configured.end();
  });
  return are_names
             ? ", where each line is wholly in quotes: the file was written as CSV twice; take the outer quotes "
               "away: sed 's/\\r$//; s/^\"\\(.*\\)\"$/\\1/; s/\"\"/\"/g' FILE > FILE.csv"
             : ", which is one text in quotes (if it is a title above the header, set stream.skip_lines = N, the "
               "number of such lines)";
}

/// A hint for lines that the delimiter does not divide: another character that probably does.
std::string one_column(const std::string& name, char delimiter, std::span<const std::string> configured) {
  if (name.find(delimiter) != std::string::npos) return one_text(name, delimiter, configured);
  const std::size_t found = name.find_first_of(";\t|,");
  if (found == std::string::npos) {
    return ", whose lines have 1 column (is stream.delimiter right?)";
  }
  const std::string other = name[found] == '\t' ? "\\t" : std::string(1, name[found]);
  return ", whose lines have 1 column and hold '" + other + "': set stream.delimiter = \"" + other + "\"";
}

/// Throws Failure(data) where the header is the word with which the files of another program begin, and so no header.
void refuse_word_of_other_kinds(const std::vector<std::string>& names, const std::string& where) {
  const std::string kind = names.size() == 1 ? kind_by_word(names.front()) : std::string();
  if (!kind.empty()) throw Failure(Exit::data, "the one word of " + where + " is the beginning of " + kind);
}

/// Says what helps with a column that is not among `names`. Where a header is missing, these "names" are the fields
/// of somebody's record. Therefore none of them is shown without a proof that they are names. The other wanted
/// columns are a proof if there are at least two and all are there. So are all wanted columns, if there are at least
/// two and all are there up to differences that the eye does not see.
std::string hint_for(const std::vector<std::string>& names, const std::string& column,
                     std::span<const std::string> configured, bool may_show, char delimiter) {
  const auto is_there = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (may_show || is_proven(names, configured)) {
    const std::string alike = looking_alike(names, column);
    // Of one column there is nothing more to list.
    if (!alike.empty()) return names.size() == 1 ? alike : alike + listed(names);
  }
  if (names.size() == 1) return one_column(names.front(), delimiter, configured);
  const auto there = std::count_if(configured.begin(), configured.end(), is_there);
  const auto missing = static_cast<std::ptrdiff_t>(configured.size()) - there;
  if (may_show || (there >= 2 && missing <= 1)) return config::did_you_mean(column, names) + listed(names);
  return ", which has " + std::to_string(names.size()) + " columns (nustream check CONFIG --data shows them)";
}

}  // namespace

std::vector<std::string> read_header(std::string_view line, char delimiter, const std::string& path) {
  line = without_line_end(line);
  line = without_mark(line);
  const auto refuse = [&](const char* what, const char* next =
                                                "add one, or set stream.header = false and name the "
                                                "columns in stream.columns") {
    throw Failure(Exit::data, "'" + path + "' has no header: its first line " + what + "; " + next);
  };
  if (trim(line).empty()) refuse("is empty");
  const auto is_odd = [&](char c) { return is_control(c) && c != delimiter; };
  // Some tools divide columns by this character. It would otherwise be reported as binary data.
  if (line.find('\1') != std::string_view::npos && delimiter != '\1') {
    refuse("is divided by the character U+0001", "set stream.delimiter = \"\\u0001\"");
  }
  if (std::any_of(line.begin(), line.end(), is_odd)) {
    refuse("holds control characters, as binary data do", "look at the file, and give it CSV or JSON lines");
  }
  std::vector<std::string_view> fields;
  std::string unquoted;
  if (split_csv_line(line, delimiter, std::numeric_limits<std::size_t>::max(), fields, unquoted) != CsvFault::none) {
    refuse("is not a CSV record");
  }
  const auto is_number = [](std::string_view field) { return record::parse_number(field).has_value(); };
  // A first line of numbers is a record of a file without a header. If it were taken for names, one record would be
  // lost and its numbers shown as names.
  if (std::all_of(fields.begin(), fields.end(), is_number)) refuse("holds nothing but numbers");
  std::vector<std::string> names;
  names.reserve(fields.size());
  for (const std::string_view field : fields) names.emplace_back(trim(field));
  return names;
}

std::size_t find_column(const std::vector<std::string>& names, const std::string& column, const std::string& where,
                        std::span<const std::string> configured, bool may_show, char delimiter) {
  const auto found = std::find(names.begin(), names.end(), column);
  if (found == names.end()) {
    refuse_word_of_other_kinds(names, where);
    const std::string hint = hint_for(names, column, configured, may_show, delimiter);
    throw Failure(Exit::configuration, "no column '" + column + "' in " + where + hint + "; name one that is there");
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
  refuse_word_of_other_kinds(names, where);
  std::string list;
  const bool may_hint = may_show || is_proven(names, configured);
  const bool is_shown = may_hint && names.size() > 1;
  for (const std::string& column : missing) {
    std::string meant = looking_alike(names, column);
    if (meant.empty() && is_shown && column.size() > 2) meant = config::did_you_mean(column, names);
    list += (list.empty() ? "'" : ", '") + column + "'" + (may_hint ? meant : std::string());
  }
  // One column where several are wanted is most likely the wrong delimiter.
  const std::string behind = names.size() == 1 ? one_column(names.front(), delimiter, configured)
                             : is_shown        ? listed(names)
                                               : ", which has " + std::to_string(names.size()) +
                                              " columns (nustream check CONFIG --data shows them)";
  throw Failure(Exit::configuration,
                "no columns " + list + " in " + where + behind + "; name columns that are there");
}

}  // namespace nustream::decode
