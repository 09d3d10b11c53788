// Recognises a file that is one JSON document by walking over its brackets and names, and writes the jq command that
// makes JSON lines of it. The walk needs no valid document, because the beginning of one is all that is there.
#include "decode/one_document.h"

#include <algorithm>
#include <array>
#include <optional>

#include "decode/csv_line.h"
#include "decode/file_kind.h"
#include "decode/json_names.h"
#include "error.h"
#include "publish/json_text.h"
#include "shell_word.h"

namespace nustream::decode {
namespace {

constexpr std::size_t document_bytes_max = std::size_t{16} << 20;  // enough of a document to recognise it
constexpr std::string_view white_space = " \t\r\n";

/// Walks over the text of a document, which may be cut.
class Outline {
 public:
  explicit Outline(std::string_view text) : text_(text) {}

  /// Walks from bracket to bracket. Names are noted at the first two levels alone.
  JsonOutline walk(bool is_all) {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') {
        take_string();
      } else if (c == '{' || c == '[') {
        open(c);
      } else if (c == '}' || c == ']') {
        // A bracket closes that was never opened.
        if (open_.empty()) return {};
        // The member of the document that was an object or an array is complete.
        if (open_.size() == 2) close_member();
        open_.pop_back();
        if (open_.empty()) return ended(is_all);
      } else if (c == ',' && !open_.empty()) {
        open_.back().is_first = false;
        // The next string of an object is a name again.
        open_.back().key.clear();
      } else if (open_.empty() && white_space.find(c) == std::string_view::npos) {
        return {};
      }
    }
    // The text ends inside the object. That is expected where only its beginning is known.
    found_.is_one = !is_all && !open_.empty();
    return std::move(found_);
  }

 private:
  struct Level {
    char kind;
    bool is_first = true;  // the next element is an array's first
    std::string key{};     // name of an object's present member
  };

  /// Takes a string. It is a member's name where the object's present member has none yet.
  void take_string() {
    std::string text;
    // Escapes are left as they are written: a name with one is compared as it stands.
    for (bool escaped = false; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (!escaped && c == '"') break;
      escaped = !escaped && c == '\\';
      text += c;
    }
    ++at_;
    if (open_.empty() || open_.back().kind != '{' || !open_.back().key.empty()) return;
    open_.back().key = text;
    if (open_.size() == 1) found_.members.push_back(text);
    if (open_.size() == 2) inside_.push_back(text);
  }

  /// An object or array begins.
  void open(char kind) {
    if (open_.size() == 1) found_.nested.push_back(open_.back().key);
    // An array whose first element is an object holds records, unless it is inside another array.
    const bool holds_records = kind == '{' && open_.size() > 1 && open_.back().kind == '[' && open_.back().is_first;
    if (holds_records && found_.records_in.empty()) {
      std::vector<std::string> way;
      for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
        if (open_[i].kind != '{') break;
        way.push_back(open_[i].key);
      }
      // The loop stops at an array on the way. Only a way through objects alone can be written as names.
      if (way.size() + 1 == open_.size()) found_.records_in = way;
    }
    open_.push_back({kind});
  }

  /// A nested member of the document ends.
  void close_member() {
    const bool is_first = !first_;
    // The names of the first member are what the others are compared with.
    if (is_first) first_ = inside_;
    if (open_.back().kind != '{' || inside_ != *first_) are_alike_ = false;
    found_.inside = are_alike_ && !is_first ? *first_ : std::vector<std::string>();
    inside_.clear();
  }

  JsonOutline ended(bool is_all) {
    found_.is_one = is_all && text_.find_first_not_of(white_space, at_) == std::string_view::npos;
    return std::move(found_);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Level> open_;
  std::vector<std::string> inside_;                // names of the present member's own members
  std::optional<std::vector<std::string>> first_;  // those of the first one, once it was seen to its end
  bool are_alike_ = true;
  JsonOutline found_;
};

bool is_among(const std::string& name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether a member's name is so common that it reveals nothing about anybody.
bool is_common(const std::string& name) {
  constexpr std::array common{"data",      "records", "rows",         "results", "items", "values",
                              "features",  "hits",    "entries",      "result",  "body",  "payload",
                              "documents", "events",  "observations", "response"};
  return std::find(common.begin(), common.end(), name) != common.end();
}

/// The name in the form in which jq takes it.
std::string member_of(const std::string& name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_plain = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  if (!name.empty() && is_letter(name.front()) && std::all_of(name.begin(), name.end(), is_plain)) return "." + name;
  std::string quoted;
  publish::append_string(name, quoted);
  return ".[" + quoted + "]";
}

/// The jq filter for the array, such as .data.rows[]. Names of the file are data, so that they are shown only where
/// they are common words or the reader may see the file.
std::string way_to_records(const std::vector<std::string>& way, bool may_show) {
  if (!may_show && !std::all_of(way.begin(), way.end(), is_common)) return ".NAME[]";
  std::string filter;
  for (const std::string& name : way) filter += member_of(name);
  return filter + "[]";
}

/// A filter for jq that makes one object for each record, from arrays side by side or from objects with one member
/// for each record.
std::string transposed(const std::vector<std::string>& columns) {
  std::string all;
  std::string object;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    all += (i == 0 ? "" : ", ") + member_of(columns[i]);
    object += i == 0 ? "" : ", ";
    publish::append_string(columns[i], object);
    object += ": .[" + std::to_string(i) + "]";
  }
  // For columns x and y: [.x, .y | [.[]]] | transpose[] | {"x": .[0], "y": .[1]}
  return "[" + all + " | [.[]]] | transpose[] | {" + object + "}";
}

/// Whether each record is a member of the document, by whatever name: {"0":{"x":1},"1":{"x":2}}.
bool has_records_as_members(const JsonOutline& seen, const std::vector<std::string>& columns) {
  if (seen.members.size() < 2 || seen.nested.size() != seen.members.size()) return false;
  return std::all_of(columns.begin(), columns.end(),
                     [&](const std::string& column) { return is_among(column, seen.inside); });
}

/// Whether the columns' names stand in one array and the rows in another: {"columns":["x"],"data":[[1],[2]]}.
bool has_names_beside_rows(const JsonOutline& seen) {
  return seen.members.size() <= 3 && is_among("columns", seen.nested) && is_among("data", seen.nested) &&
         seen.nested.size() == seen.members.size();
}

/// Whether one of the columns is a member of the document itself, so that the document is a record.
bool reads_any(const JsonOutline& seen, const std::vector<std::string>& columns) {
  return std::any_of(columns.begin(), columns.end(), [&](const std::string& column) {
    if (column.starts_with('/')) return is_among(column.substr(1, column.find('/', 1) - 1), seen.members);
    return is_among(column, seen.members) && !is_among(column, seen.nested);
  });
}

/// Whether the header, which alone is public, is the first line of a JSON document.
bool is_document_by_header(const FirstContent& first, const config::InputSettings& settings) {
  const std::string_view behind = behind_skipped(first.bytes, settings);
  const std::string_view header = trimmed(behind.substr(0, behind.find('\n')));
  return header == "{" || begins_an_object(header);
}

}  // namespace

JsonOutline outline_of(std::string_view text, bool is_all) {
  const std::size_t begin = text.find_first_not_of(white_space);
  if (begin == std::string_view::npos || text[begin] != '{') return {};
  return Outline(text).walk(is_all);
}

std::string one_document(std::string_view text, bool is_all, const std::vector<std::string>& columns,
                         const config::InputSettings& settings, const std::string& path) {
  // With an envelope each message is a document of its own, with nested members.
  if (settings.envelope != config::Envelope::none || columns.empty()) return {};
  const JsonOutline seen = outline_of(without_mark(text), is_all);
  if (!seen.is_one || reads_any(seen, columns)) return {};
  const auto sentence = [&](const char* what, const std::string& filter, const char* behind) {
    return "'" + path + "' is one JSON document " + what +
           ", and nustream reads one object on each line: write it so" +
           (has_members(settings) ? "" : ", and set stream.format = \"jsonl\"") + ": jq -c " + in_quotes(filter) +
           " " + in_quotes(name_to_type(path)) + " > " + in_quotes(name_to_type(path) + ".jsonl") + behind;
  };
  const auto is_nested = [&](const std::string& column) { return is_among(column, seen.nested); };
  // Every column is a nested member, or one is and there is no array of records that could be meant instead.
  const bool are_columns = std::all_of(columns.begin(), columns.end(), is_nested) ||
                           (seen.records_in.empty() && std::any_of(columns.begin(), columns.end(), is_nested));
  if (are_columns) return sentence("whose columns are arrays", transposed(columns), "");
  if (has_records_as_members(seen, columns)) return sentence("whose members are the records", ".[]", "");
  if (seen.records_in.empty() && has_names_beside_rows(seen)) {
    return sentence("with the columns' names beside the rows",
                    ".columns as $names | .data[] | [[$names, .] | transpose[] | {(.[0]): .[1]}] | add", "");
  }
  if (seen.records_in.empty()) return {};
  const std::string filter = way_to_records(seen.records_in, settings.may_show_header);
  return sentence("whose records are an array inside it", filter,
                  filter == ".NAME[]" ? ", where NAME is the member that holds the array" : "");
}

namespace {

/// A document on one line is an object as well. It differs from a record in the columns that it lacks.
RecordShape shape_of_records(const std::vector<std::string>& columns, const config::InputSettings& settings) {
  return [&](std::string_view line) {
    return looks_like_record(line, settings) && one_document(line, true, columns, settings, {}).empty();
  };
}

}  // namespace

bool may_be_one_document(const FirstContent& first, const std::vector<std::string>& columns,
                         const config::InputSettings& settings) {
  if (has_header(settings) && !is_document_by_header(first, settings)) return false;
  return may_decide(first, settings, shape_of_records(columns, settings)) &&
         outline_of(without_mark(first.bytes), first.is_all).is_one;
}

void refuse_one_document(const config::InputSettings& settings, const record::Schema& schema) {
  const std::vector<std::string> columns = wanted_columns(settings, schema);
  FirstContents contents(settings, shape_of_records(columns, settings));
  for (const std::string& path : settings.files) {
    auto first = contents.of(path);
    if (!first || !may_be_one_document(*first, columns, settings)) continue;
    // The first look was at 64 KiB. It may take more to see two whole members, or an array deep inside.
    if (!first->is_all)
      first = first_content(path, settings, std::max(document_bytes_max, settings.record_bytes_max));
    const std::string found = told_of_content(path, [&](const std::string& name) {
      return one_document(first->bytes, first->is_all, columns, settings, name);
    });
    if (!found.empty()) throw Failure(Exit::data, found);
  }
}

}  // namespace nustream::decode
