// Tells kinds of text from each other by their first lines: JSON in its many shapes, CSV, logs, lines of old Macs.
// Each kind is a constant with what it is and what to type, where % stands for the path. The order of the questions
// matters, since a text can look like several kinds.
#include "decode/file_kind.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "decode/first_lines.h"

namespace nustream::decode {
namespace {

/// Whether `is_so` holds for more than half of the lines.
template <class IsSo>
bool most(const std::vector<std::string_view>& lines, IsSo is_so) {
  return 2 * static_cast<std::size_t>(std::ranges::count_if(lines, is_so)) > lines.size();
}

/// Whether the text has the line ends of old Macs: no newline, except perhaps one at its end, and something after a
/// carriage return.
bool has_carriage_returns_alone(std::string_view first) {
  if (first.ends_with('\n')) first.remove_suffix(1);
  if (first.find('\n') != std::string_view::npos) return false;
  const std::size_t found = first.find('\r');
  return found != std::string_view::npos && first.find_first_not_of('\r', found) != std::string_view::npos;
}

/// Whether the line has control bytes that are no delimiters.
bool holds_odd_bytes(std::string_view line) {
  return std::ranges::any_of(line,
                             [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\1'; });
}

const TextKind json_lines{"JSON lines, and stream.format = \"csv\"", "set stream.format = \"jsonl\""};
const TextKind json_array{"a JSON array, and nustream reads one object on each line",
                          "write it so, and set stream.format = \"jsonl\": jq -c '.[]' '%' > '%.jsonl'"};
const TextKind json_without_lines{"JSON with several objects on a line, and nustream reads one object on each line",
                                  "write it so, and set stream.format = \"jsonl\": jq -c . '%' > '%.jsonl'"};
// RFC 7464: the byte 0x1e before each object.
const TextKind json_sequence{"a sequence of JSON texts with separators (RFC 7464), and JSON lines have none",
                             "take them out, and set stream.format = \"jsonl\": tr -d '\\036' < '%' > '%.jsonl'"};
const TextKind binary{"binary data, with zero bytes in its first lines", "write its records as CSV or JSON lines"};
const TextKind json_document{"JSON with each object over several lines, and nustream reads one object on each line",
                             "write it so, and set stream.format = \"jsonl\": jq -c . '%' > '%.jsonl'"};

const TextKind json_with_commas{
    "JSON objects with a comma behind each, and JSON lines have none",
    "take the commas out, and set stream.format = \"jsonl\": sed 's/,[[:space:]]*$//' '%' > '%.jsonl'"};
const TextKind json_rows{
    "JSON arrays of values, one a line, and nustream reads one object on each line",
    "write it as CSV, and set stream.format = \"csv\", stream.header = false and stream.columns: "
    "jq -r @csv '%' > '%.csv'"};

const TextKind json_with_text_behind{
    "JSON objects with text behind each, and JSON lines have none",
    "take the text away, and set stream.format = \"jsonl\": sed 's/}[^}]*$/}/' '%' > '%.jsonl'"};

const TextKind json_texts{
    "JSON written twice (a text in quotes on each line), and nustream reads one object on each line",
    "write what is in the texts, and set stream.format = \"jsonl\": "
    "jq -c fromjson '%' > '%.jsonl'"};

/// Whether the line is a text of JSON that holds an object: "{\"x\":1}".
bool is_text_of_object(std::string_view line) {
  return line.size() > 3 && line.starts_with("\"{") && line.ends_with("}\"");
}

/// Whether JSON stands behind something else on the line, as in a log.
bool holds_json_behind(std::string_view line) {
  const std::size_t begin = line.find('{');
  return begin != std::string_view::npos && begin > 0 && begins_an_object(line.substr(begin)) && line.ends_with('}');
}

/// Whether the line is an object and a comma, as an element of an array that has its elements on lines of their own.
bool is_object_with_comma(std::string_view line) {
  return line.ends_with(',') && looks_like_object(trimmed(line.substr(0, line.size() - 1)));
}

/// Whether text stands behind the object of the line, such as a comment, and no other object or comma.
bool has_text_behind(std::string_view line) {
  return !looks_like_object(line) && !line.ends_with(',') && goes_on_behind_object(line);
}

/// Whether the line is an array of values, such as [1.5,"a"], but not of objects or arrays.
bool is_row_of_values(std::string_view line) {
  if (line.size() < 3 || !line.starts_with('[') || !line.ends_with(']')) return false;
  // The closing bracket is left at least, so that there is a first character.
  const char first = trimmed(line.substr(1)).front();
  return first != '{' && first != '[' && first != ']';
}

/// Whether `is_so` holds for the first line, which in a document of many lines is another one, and for most others.
template <class IsSo>
bool throughout(const std::vector<std::string_view>& lines, IsSo is_so) {
  return is_so(lines.front()) && most(lines, is_so);
}

/// Says what JSON has its records on lines of their own, but no plain object on each; an empty kind where there is
/// none.
TextKind other_json_lines(const std::vector<std::string_view>& lines) {
  if (throughout(lines, is_object_with_comma)) return json_with_commas;
  if (throughout(lines, is_text_of_object)) return json_texts;
  if (throughout(lines, has_text_behind)) return json_with_text_behind;
  return throughout(lines, is_row_of_values) ? json_rows : TextKind{};
}

/// Says what JSON text begins with `line` but is not one object on each line: an array, or a document over several
/// lines.
TextKind json_otherwise(std::string_view line) {
  const std::string_view behind = trimmed(line.substr(1));
  if (has_text_behind(line)) return json_with_text_behind;
  if (line.starts_with('[') && (behind.empty() || behind.front() == '{' || behind.front() == '[')) return json_array;
  if (line.starts_with('{') && (behind.empty() || (behind.front() == '"' && !looks_like_object(line)))) {
    return json_document;
  }
  return {};
}

/// Says what lines are that should be one object each; an empty kind where most of them are.
TextKind instead_of_json_lines(const std::vector<std::string_view>& lines) {
  const std::string_view line = lines.front();
  // This comes first: such a line looks like one object as well, since it begins and ends as one does.
  if (most(lines, holds_several_objects)) return json_without_lines;
  if (TextKind other = other_json_lines(lines); !other.what.empty()) return other;
  // Some lines of an array look like objects too, such as its last line, which has no comma at its end.
  if (!most(lines, [](std::string_view each) { return !looks_like_object(each); })) return {};
  // Few lines are objects. The first line tells what the others are parts of.
  if (line.starts_with('[')) return json_array;
  if (line.starts_with('{')) return json_document;
  if (most(lines, holds_json_behind)) {
    return {"a log with text before the JSON of its lines, and nustream reads one object on each line",
            "take the text away: sed 's/^[^{]*//' '%' > '%.jsonl'"};
  }
  // Something between the fields in most lines, and no control bytes: CSV under the wrong format.
  const bool is_divided = most(lines, [](std::string_view each) {
    return each.find_first_of(",;\t|\x01") != std::string_view::npos && !holds_odd_bytes(each);
  });
  if (is_divided) return {"CSV, and stream.format = \"jsonl\"", "set stream.format = \"csv\""};
  return {"no JSON lines: few of its first lines are objects", "set stream.format to what it is"};
}

/// Whether `is_so` holds for the header, or without a header for most of the first lines.
template <class IsSo>
bool says_so(const std::vector<std::string_view>& lines, const config::InputSettings& settings, IsSo is_so) {
  return has_header(settings) ? is_so(lines.front()) : most(lines, is_so);
}

/// Says what lines are that should be CSV. With a header that line alone is looked at, since it is public.
TextKind instead_of_csv(const std::vector<std::string_view>& lines, const config::InputSettings& settings) {
  const std::string_view line = lines.front();
  const auto looks_like_record = [](std::string_view each) {
    return looks_like_object(each) && each.find('"') != std::string_view::npos;
  };
  if (says_so(lines, settings, looks_like_record)) return json_lines;
  if (throughout(lines, is_object_with_comma)) return json_with_commas;
  // Excel writes "sep=;" above the header. It would be taken for a header with one name.
  if (line.size() == 5 && line.starts_with("sep=") && settings.skip_lines == 0) {
    return {"CSV with a line of Excel's (sep=) above it",
            std::string("set stream.skip_lines = 1 and stream.delimiter = \"") + line.back() + "\""};
  }
  return has_header(settings) || lines.size() > 1 || begins_an_array_of_objects(line) ? json_otherwise(line)
                                                                                      : TextKind{};
}

/// Says what a text is whose first line, which begins with `begin`, is longer than what is looked at.
TextKind by_long_line(std::string_view begin, const config::InputSettings& settings) {
  if (begins_an_array_of_objects(begin)) return json_array;
  if (!begins_an_object(begin)) return {};
  if (holds_several_objects(begin)) return json_without_lines;
  return has_members(settings) ? TextKind{} : json_lines;
}

/// Whether the header ends in a carriage return although one before its newline was taken for the line's end. Without
/// a header the records are read, and are unusable where their last column is needed.
bool has_doubled_carriage_returns(const std::vector<std::string_view>& lines, const config::InputSettings& settings) {
  return has_header(settings) && !lines.empty() && lines.front().ends_with('\r');
}

/// The kind, with a remedy that is written for any settings.
TextKind as_told(const FirstContent& first, const config::InputSettings& settings) {
  const std::string_view behind = behind_skipped(first.bytes, settings);
  if (has_carriage_returns_alone(first.bytes) || has_carriage_returns_alone(behind)) {
    return {"text whose lines end in carriage returns alone",
            "write it with newlines: tr '\\r' '\\n' < '%' > '%.lf'"};
  }
  std::vector<std::string_view> lines = first_lines(first, settings);
  if (has_doubled_carriage_returns(lines, settings)) {
    return {"text whose lines end in doubled carriage returns", "take them away: sed 's/\\r*$//' '%' > '%.lf'"};
  }
  for (std::string_view& line : lines) line = trimmed(line);
  // Not even the first line ends within what is known.
  if (lines.empty()) return by_long_line(trimmed(behind), settings);
  if (says_so(lines, settings, [](std::string_view line) { return line.find('\0') != line.npos; })) return binary;
  if (says_so(lines, settings, [](std::string_view line) { return line.front() == '\x1e'; })) return json_sequence;
  switch (settings.format) {
    case config::Format::csv:
      return instead_of_csv(lines, settings);
    case config::Format::json_lines:
      return instead_of_json_lines(lines);
  }
  __builtin_unreachable();
}

}  // namespace

TextKind text_kind(const FirstContent& first, const config::InputSettings& settings) {
  TextKind kind = as_told(first, settings);
  constexpr std::string_view to_set = ", and set stream.format = \"jsonl\"";
  const std::size_t at = kind.remedy.find(to_set);
  // The remedies are written for settings of CSV. Somebody who has set the other format already need not be told to.
  const bool is_set = has_members(settings);
  if (is_set && at != std::string::npos) kind.remedy.erase(at, to_set.size());
  return kind;
}

}  // namespace nustream::decode
