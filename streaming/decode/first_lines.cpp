// Reads the beginnings of files and applies the rule of may_decide(). The rule protects records: whether a file is
// refused can be seen, so that no single record may decide it (docs/formats/input.md).
#include "decode/first_lines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "decode/byte_source.h"
#include "decode/csv_line.h"
#include "error.h"

namespace nustream::decode {
namespace {

// Enough to see what a file is, and few enough that looking costs nothing.
constexpr std::size_t lines_max = 100;
// A longer line is no usable record: record_bytes_max is at most as large.
constexpr std::uint64_t search_bytes_max = std::uint64_t{1} << 30;

/// Finds out, part by part, whether a content has a second line that is not empty, behind the lines that are skipped.
class OneLine {
 public:
  explicit OneLine(std::uint64_t skipped) : skipped_(skipped) {}

  void take(std::string_view part) {
    while (!part.empty() && is_one_) {
      const std::size_t end = std::min(part.find('\n'), part.size());
      take_line(part.substr(0, end));
      if (end < part.size()) end_line();
      part.remove_prefix(std::min(end + 1, part.size()));
    }
  }
  [[nodiscard]] bool is_one() const noexcept { return is_one_; }

 private:
  /// Takes the part of a line. A line may come in several parts, of which the first one that is not blank counts.
  void take_line(std::string_view part) {
    if (skipped_ > 0 || holds_ || trimmed(part).empty()) return;
    holds_ = true;
    is_one_ = !was_one_;
  }
  /// A newline came. A line above the records does not count.
  void end_line() {
    skipped_ -= skipped_ > 0 ? 1 : 0;
    was_one_ |= std::exchange(holds_, false);
  }

  std::uint64_t skipped_;
  bool holds_ = false;    // the present line holds something
  bool was_one_ = false;  // a line before it did
  bool is_one_ = true;
};

/// Hands the content of `path` to `take`, part by part, for as long as `take` returns true. Returns whether the
/// content has ended. Throws as the source does.
template <class Take>
bool read_parts(const std::string& path, const config::InputSettings& settings, Take take) {
  std::array<char, look_bytes> part;
  const auto source = open_lines(path, settings);
  while (true) {
    const ByteSource::Result read = source->read(part);
    const bool wants_more = take(std::string_view(part.data(), read.bytes));
    if (read.end || !wants_more) return read.end;
  }
}

/// The same, where a file that cannot be read does not count as ended: the reader of its records reports the fault.
template <class Take>
bool read_good_parts(const std::string& path, const config::InputSettings& settings, Take take) {
  try {
    return read_parts(path, settings, take);
  } catch (const Failure& failure) {
    if (failure.code() != Exit::io) throw;
    return false;
  }
}

/// Whether the line is JSON: a whole object or array, a member, or the first or last line of an object or array. Such
/// a line counts as no record of CSV.
bool is_json(std::string_view line) {
  // Members and elements of a document over many lines end so.
  if (line.ends_with(',')) line.remove_suffix(1);
  if (line.starts_with('}') || line.starts_with(']')) return true;
  if (line.starts_with('"') && line.find("\":") != std::string_view::npos) return true;  // a member
  if (looks_like_object(line) || begins_an_object(line)) return true;
  return line.starts_with('[') && (line.ends_with(']') || trimmed(line.substr(1)).starts_with('{'));
}

/// Whether a field is what a column of numbers holds: a number, or a word for none.
bool is_number_or_none(std::string_view field, const config::InputSettings& settings) {
  // Words that files of data have in the place of a missing value.
  constexpr std::array none{"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "-", "."};
  const std::string_view text = trimmed(field);
  return !std::isnan(read_csv_number(text, settings.decimal)) || std::ranges::find(none, text) != none.end();
}

/// Whether the line of CSV has as many fields as there are columns. A single column proves little, so that its field
/// has to look like one of numbers as well.
bool has_fields_of_record(std::string_view line, const config::InputSettings& settings) {
  std::vector<std::string_view> fields;
  std::string unquoted;
  const std::size_t columns = settings.columns.size();
  const CsvFault fault = split_csv_line(line, settings.delimiter, columns + 1, fields, unquoted);
  if (fault != CsvFault::none || fields.size() != columns) return false;
  return columns > 1 || is_number_or_none(fields.front(), settings);
}

/// Whether at least half of the lines look like records.
bool look_like_records(std::span<const std::string_view> lines, const RecordShape& looks_like_record) {
  const auto records = std::ranges::count_if(lines, looks_like_record);
  return !lines.empty() && 2 * static_cast<std::size_t>(records) >= lines.size();
}

}  // namespace

std::optional<FirstContent> first_content(const std::string& path, const config::InputSettings& settings,
                                          std::size_t bytes_max, Faults faults) {
  if (is_standard_input(path) || !stored_size(path)) return std::nullopt;
  FirstContent first;
  std::uint64_t total = 0;
  const auto take = [&](std::string_view part) {
    first.bytes += part.substr(0, bytes_max - first.bytes.size());
    // Counts all bytes that came, so that is_all is false where the last part held more than what is kept.
    total += part.size();
    return first.bytes.size() < bytes_max;
  };
  const bool ended =
      faults == Faults::thrown ? read_parts(path, settings, take) : read_good_parts(path, settings, take);
  first.is_all = ended && total == first.bytes.size();
  return first;
}

std::string_view behind_skipped(std::string_view first, const config::InputSettings& settings) {
  first = without_mark(first);
  for (std::uint64_t i = 0; i < settings.skip_lines && !first.empty(); ++i) {
    first.remove_prefix(std::min(first.find('\n'), first.size() - 1) + 1);
  }
  // Only above a header: further down such a line is a record.
  while (has_header(settings) && !settings.comment.empty() && first.starts_with(settings.comment)) {
    first.remove_prefix(std::min(first.find('\n'), first.size() - 1) + 1);
  }
  return first;
}

std::vector<std::string_view> first_lines(const FirstContent& first, const config::InputSettings& settings) {
  std::string_view text = behind_skipped(first.bytes, settings);
  std::vector<std::string_view> lines;
  while (!text.empty() && lines.size() < lines_max) {
    const std::size_t end = text.find('\n');
    // The last line may go on behind what is known.
    if (end == std::string_view::npos && !first.is_all) break;
    const std::string_view line = without_line_end(text.substr(0, end));
    if (!trimmed(line).empty()) lines.push_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

bool looks_like_record(std::string_view line, const config::InputSettings& settings) {
  const std::string_view text = trimmed(without_mark(line));
  switch (settings.format) {
    case config::Format::csv:
      return !is_json(text) && has_fields_of_record(line, settings);
    case config::Format::json_lines:
      return looks_like_object(text) && !holds_several_objects(text);
  }
  __builtin_unreachable();
}

bool may_decide(const FirstContent& first, const config::InputSettings& settings,
                const RecordShape& looks_like_record) {
  // A header is public. It may decide alone.
  if (has_header(settings)) return true;
  const std::vector<std::string_view> lines = first_lines(first, settings);
  // A file with one line has no other record that could speak for it.
  if (lines.empty() || first.is_one_line) return first.is_one_line && !look_like_records(lines, looks_like_record);
  return lines.size() > 1 && !looks_like_record(lines.front()) &&
         !look_like_records(std::span(lines).subspan(1), looks_like_record);
}

std::optional<FirstContent> FirstContents::of(const std::string& path) {
  std::optional<FirstContent> first = first_content(path, settings_, look_bytes);
  if (first && !has_header(settings_)) first->is_one_line = is_one_line(path, *first) && !other_files_hold_records();
  return first;
}

/// Whether the content is known to have no second line that is not empty.
bool FirstContents::is_one_line(const std::string& path, const FirstContent& first) const {
  const std::size_t known = first_lines(first, settings_).size();
  // What is known already answers the question.
  if (first.is_all || known > 1) return known < 2;
  OneLine lines(settings_.skip_lines);
  std::uint64_t total = 0;
  const bool ended = read_good_parts(path, settings_, [&](std::string_view part) {
    lines.take(part);
    total += part.size();
    return lines.is_one() && total < search_bytes_max;
  });
  return ended && lines.is_one();
}

/// Whether there are several files, and one of them has records. A file that cannot be read twice counts as one with
/// records, because nobody knows yet what is in it.
bool FirstContents::other_files_hold_records() {
  if (settings_.files.size() < 2) return false;
  // The answer is the same for every file of the input, and reading the files is slow.
  if (!hold_records_) {
    hold_records_ = std::ranges::any_of(settings_.files, [&](const std::string& path) {
      const std::optional<FirstContent> first = first_content(path, settings_, look_bytes);
      return !first || look_like_records(first_lines(*first, settings_), looks_like_record_);
    });
  }
  return *hold_records_;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view white = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(white), text.size());
  return text.substr(begin, text.find_last_not_of(white) + 1 - begin);
}

bool looks_like_object(std::string_view text) {
  return text.starts_with('{') && text.ends_with('}');
}

bool begins_an_object(std::string_view text) {
  return text.starts_with('{') && trimmed(text.substr(1)).starts_with('"');
}

bool begins_an_array_of_objects(std::string_view text) {
  return text.starts_with('[') && begins_an_object(trimmed(text.substr(1)));
}

namespace {

/// What stands behind the first object or array of the text; "" where none ends in it.
std::string_view behind_first(std::string_view text) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      if (c == '\\') ++i;
      in_text = c != '"';
      continue;
    }
    in_text = c == '"';
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return trimmed(text.substr(i + 1));
  }
  return {};
}

}  // namespace

bool holds_several_objects(std::string_view text) {
  return behind_first(text).starts_with('{');
}

bool goes_on_behind_object(std::string_view text) {
  return begins_an_object(text) && !behind_first(text).empty();
}

}  // namespace nustream::decode
