#include "decode/header_hints.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "config/nearest.h"
#include "config/unicode.h"
#include "decode/csv_line.h"
#include "decode/delimiters.h"
#include "nustream/record/number.h"

namespace nustream::decode {
namespace {

/// A hint for a header of one column whose name holds the delimiter, so that the whole line stands in quotes. Either
/// each line was written as the one field of another CSV file, or the line is a title.
std::string one_text(const std::string& name, char delimiter, std::span<const std::string> configured) {
  std::vector<std::string_view> fields;
  std::string unquoted;
  static_cast<void>(split_csv_line(name, delimiter, std::numeric_limits<std::size_t>::max(), fields, unquoted));
  const bool are_names = std::any_of(fields.begin(), fields.end(), [&](std::string_view field) {
    return std::find(configured.begin(), configured.end(), without_blanks(field)) != configured.end();
  });
  return are_names
             ? ", where each line is wholly in quotes: the file was written as CSV twice; take the outer quotes "
               "away: sed 's/\\r$//; s/^\"\\(.*\\)\"$/\\1/; s/\"\"/\"/g' FILE > FILE.csv"
             : ", which is one text in quotes (if it is a title above the header, set stream.skip_lines = N, the "
               "number of such lines)";
}

}  // namespace

HeaderHints::HeaderHints(const std::vector<std::string>& names, std::span<const std::string> configured,
                         bool may_show, char delimiter)
    : names_(names), configured_(configured), delimiter_(delimiter) {
  const auto there = std::count_if(configured.begin(), configured.end(),
                                   [this](const std::string& column) { return is_there(column); });
  // At least two columns that are there prove that the texts are names, unless another one is missing too.
  const bool are_enough = there >= 2 && static_cast<std::ptrdiff_t>(configured.size()) - there <= 1;
  are_shown_ = may_show || are_enough || is_proven();
}

bool HeaderHints::is_there(const std::string& column) const {
  return std::find(names_.begin(), names_.end(), column) != names_.end();
}

/// " (did you mean 'NAME'? it differs …)" for a name that looks like `column`; else "".
std::string HeaderHints::looking_alike(const std::string& column) const {
  for (const std::string& name : names_) {
    if (name == '"' + column + '"') {
      return " (its quotation marks belong to the name '" + name +
             "', because a space stands in front of them: " + take_spaces_away(delimiter_) + ")";
    }
    if (std::string meant = config::did_you_mean_unseen(column, name); !meant.empty()) return meant;
  }
  return {};
}

/// Whether all columns that are wanted, at least two, are there up to differences that the eye does not see. The
/// texts are then names of columns.
bool HeaderHints::is_proven() const {
  return configured_.size() >= 2 &&
         std::all_of(configured_.begin(), configured_.end(),
                     [&](const std::string& column) { return is_there(column) || !looking_alike(column).empty(); });
}

std::string HeaderHints::on_column(const std::string& column) const {
  if (!are_shown_) return {};
  std::string alike = looking_alike(column);
  if (!alike.empty() || names_.size() == 1) return alike;
  // A name that is another column of the settings is not the one that was misspelt. Nor can a name be typed whose
  // bytes are no characters.
  std::vector<std::string> others;
  for (const std::string& name : names_) {
    const bool is_taken = std::find(configured_.begin(), configured_.end(), name) != configured_.end();
    if (!is_taken && !name.empty() && config::is_utf8(name)) others.push_back(name);
  }
  return config::did_you_mean_one_of(config::closest(column, others));
}

/// A hint for lines that the delimiter does not divide: another character that probably does.
std::string HeaderHints::one_column() const {
  const std::string& name = names_.front();
  if (name.find(delimiter_) != std::string::npos) return one_text(name, delimiter_, configured_);
  std::optional<char> other = delimiter_between(name, delimiter_, configured_);
  const std::size_t found = name.find_first_of(";\t|,");
  if (!other && found != std::string::npos) other = name[found];
  if (!other) return ", whose lines have 1 column (is stream.delimiter right?)";
  return ", whose lines have 1 column and hold '" + typed_delimiter(*other) + "': " + set_delimiter(*other);
}

/// The names as in ", whose columns are 'a', 'b' and 3 more". Where one is a number, the line may be a record.
std::string HeaderHints::listed() const {
  // A header may have thousands of names.
  constexpr std::size_t shown_max = 30;
  std::string list;
  for (std::size_t i = 0; i < std::min(names_.size(), shown_max); ++i) {
    list += (i == 0 ? "'" : ", '") + config::with_bytes_escaped(names_[i]) + "'";
  }
  if (names_.size() > shown_max) list += " and " + std::to_string(names_.size() - shown_max) + " more";
  const bool holds_number = std::any_of(
      names_.begin(), names_.end(), [](const std::string& name) { return record::parse_number(name).has_value(); });
  const char* const record_instead =
      " (if that is a record, and there is no header: set stream.header = false and "
      "name the columns in stream.columns)";
  return ", whose columns are " + list + (holds_number ? record_instead : "");
}

std::string HeaderHints::on_header() const {
  const std::string text = names_.size() == 1 ? one_column()
                           : are_shown_       ? listed()
                                              : ", which has " + std::to_string(names_.size()) +
                                              " columns (nustream check CONFIG --data shows them)";
  return std::all_of(names_.begin(), names_.end(), config::is_utf8)
             ? text
             : text + "; " + config::not_utf8("some names are");
}

std::string_view without_blanks(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

std::string take_spaces_away(char delimiter) {
  const std::string one = "[" + typed_delimiter(delimiter) + "]";
  return "take the spaces away: sed -E 's/(^|" + one + ") +\"/\\1\"/g; s/\" +(" + one +
         "|\\r?$)/\"\\1/g' FILE > FILE.csv";
}

}  // namespace nustream::decode
