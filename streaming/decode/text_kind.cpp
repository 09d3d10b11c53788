#include "decode/text_kind.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "decode/csv_line.h"

namespace nustream::decode {
namespace {

constexpr std::size_t lines_max = 100;
constexpr std::string_view white = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(white), text.size());
  return text.substr(begin, text.find_last_not_of(white) + 1 - begin);
}

/// The first lines that hold anything, without white space around them. A line that is not whole in `text` is left
/// out.
std::vector<std::string_view> lines_of(std::string_view text, bool is_all) {
  std::vector<std::string_view> lines;
  while (!text.empty() && lines.size() < lines_max) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos && !is_all) break;
    const std::string_view line = trimmed(text.substr(0, end));
    if (!line.empty()) lines.push_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

bool looks_like_object(std::string_view line) {
  return line.starts_with('{') && line.ends_with('}');
}

/// Whether the line begins an array of objects. No record of CSV begins so, with or without a header.
bool is_array_of_objects(std::string_view line) {
  if (!line.starts_with('[')) return false;
  const std::string_view object = trimmed(line.substr(1));
  return object.starts_with('{') && trimmed(object.substr(1)).starts_with('"');
}

/// Whether the text has line ends of old Macs: no newline, and something behind a carriage return.
bool has_carriage_returns_alone(std::string_view first) {
  if (first.find('\n') != std::string_view::npos) return false;
  const std::size_t found = first.find('\r');
  return found != std::string_view::npos && first.find_first_not_of('\r', found) != std::string_view::npos;
}

/// Whether the line has control bytes that no delimiter is.
bool holds_odd_bytes(std::string_view line) {
  return std::ranges::any_of(line,
                             [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\1'; });
}

bool begins_an_object(std::string_view line) {
  return line.starts_with('{') && trimmed(line.substr(1)).starts_with('"');
}

const TextKind json_lines{"JSON lines, and stream.format = \"csv\"", "set stream.format = \"jsonl\""};
const TextKind json_array{"a JSON array, and one object a line is read",
                          "write it so, and set stream.format = \"jsonl\": jq -c '.[]' '%' > '%.jsonl'"};
const TextKind json_without_lines{"JSON with several objects on a line, and one object a line is read",
                                  "write it so, and set stream.format = \"jsonl\": jq -c . '%' > '%.jsonl'"};
// RFC 7464: the byte 0x1e before each object.
const TextKind json_sequence{"a sequence of JSON texts with separators (RFC 7464), and JSON lines have none",
                             "take them out, and set stream.format = \"jsonl\": tr -d '\\036' < '%' > '%.jsonl'"};
const TextKind binary{"binary data, with zero bytes in its first lines", "write its records as CSV or JSON lines"};
const TextKind json_document{"JSON of many lines an object, and one object a line is read",
                             "write it so, and set stream.format = \"jsonl\": jq -c . '%' > '%.jsonl'"};

/// Whether behind the first object of the line another one begins, as where nothing was written between objects.
bool holds_several_objects(std::string_view line) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (in_text) {
      if (c == '\\') ++i;
      in_text = c != '"';
      continue;
    }
    in_text = c == '"';
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return trimmed(line.substr(i + 1)).starts_with('{');
  }
  return false;
}

/// What JSON is that begins with `line` but is not one object on each line: an array, or a document over several
/// lines.
TextKind json_otherwise(std::string_view line) {
  const std::string_view behind = trimmed(line.substr(1));
  if (line.starts_with('[') && (behind.empty() || behind.front() == '{' || behind.front() == '[')) return json_array;
  if (line.starts_with('{') && (behind.empty() || (behind.front() == '"' && !looks_like_object(line)))) {
    return json_document;
  }
  return {};
}

TextKind instead_of_json_lines(const std::vector<std::string_view>& lines) {
  const std::string_view line = lines.front();
  const auto objects = std::count_if(lines.begin(), lines.end(), looks_like_object);
  // The last object of an array has no comma behind it, and looks like a line of JSON.
  const bool may_be_array = line == "[" && objects == 1 && lines.size() > 2;
  if (std::ranges::all_of(lines, holds_several_objects)) return json_without_lines;
  if (objects > 0 && !may_be_array) return {};
  if (line.starts_with('[')) return json_array;
  if (line.starts_with('{')) return json_document;
  const bool is_divided = std::all_of(lines.begin(), lines.end(), [](std::string_view each) {
    return each.find_first_of(",;\t|\x01") != std::string_view::npos && !holds_odd_bytes(each);
  });
  if (is_divided) return {"CSV, and stream.format = \"jsonl\"", "set stream.format = \"csv\""};
  return {"no JSON lines: none of its first lines is an object", "set stream.format to what it is"};
}

/// Whether the header holds a zero byte; without a header, whether all first lines do. Among other lines a record
/// with such a byte is unusable, and says nothing about its file; where it is the only whole line, it decides.
bool is_binary(const std::vector<std::string_view>& lines, const config::InputSettings& settings) {
  const auto holds_zero = [](std::string_view line) { return line.find('\0') != std::string_view::npos; };
  if (lines.empty()) return false;
  const bool has_header = settings.format == config::Format::csv && settings.header;
  return has_header ? holds_zero(lines.front()) : std::ranges::all_of(lines, holds_zero);
}

TextKind instead_of_csv(const std::vector<std::string_view>& lines, const config::InputSettings& settings) {
  const std::string_view line = lines.front();
  const auto looks_like_record = [](std::string_view each) {
    return looks_like_object(each) && each.find('"') != std::string_view::npos;
  };
  if (settings.header ? looks_like_record(line) : std::all_of(lines.begin(), lines.end(), looks_like_record)) {
    return json_lines;
  }
  if (line.size() == 5 && line.starts_with("sep=") && settings.skip_lines == 0) {
    return {"CSV with a line of Excel's (sep=) above it",
            std::string("set stream.skip_lines = 1 and stream.delimiter = \"") + line.back() + "\""};
  }
  return settings.header || lines.size() > 1 || is_array_of_objects(line) ? json_otherwise(line) : TextKind{};
}

}  // namespace

std::string_view behind_skipped(std::string_view first, const config::InputSettings& settings) {
  first = without_mark(first);
  for (std::uint64_t i = 0; i < settings.skip_lines && !first.empty(); ++i) {
    first.remove_prefix(std::min(first.find('\n'), first.size() - 1) + 1);
  }
  while (!settings.comment.empty() && first.starts_with(settings.comment)) {
    first.remove_prefix(std::min(first.find('\n'), first.size() - 1) + 1);
  }
  return first;
}

TextKind text_kind(std::string_view first, bool is_all, const config::InputSettings& settings) {
  if (has_carriage_returns_alone(first)) {
    return {"text whose lines end in carriage returns alone",
            "write it with newlines: tr '\\r' '\\n' < '%' > '%.lf'"};
  }
  const std::string_view behind = behind_skipped(first, settings);
  const std::vector<std::string_view> lines = lines_of(behind, is_all);
  if (is_binary(lines, settings)) return binary;
  if (behind.starts_with('\x1e')) return json_sequence;
  // Where there is no whole line, one line is longer than what is looked at.
  if (lines.empty() && is_array_of_objects(trimmed(behind))) return json_array;
  if (lines.empty() && begins_an_object(trimmed(behind))) {
    if (holds_several_objects(trimmed(behind))) return json_without_lines;
    if (settings.format == config::Format::csv) return json_lines;
  }
  if (lines.empty() || (lines.size() < 2 && !is_all && !settings.header)) return {};
  if (settings.format == config::Format::csv) return instead_of_csv(lines, settings);
  return lines.size() < 2 && !is_all ? TextKind{} : instead_of_json_lines(lines);
}

}  // namespace nustream::decode
