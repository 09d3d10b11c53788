#include "decode/first_lines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

#include "decode/byte_source.h"
#include "decode/csv_line.h"
#include "decode/csv_number.h"
#include "decode/joined_quotes.h"
#include "error.h"

namespace nustream::decode {
namespace {

constexpr std::size_t lines_max = 100;
constexpr std::string_view white = " \t\r\n";
// No record is as long.
constexpr std::uint64_t search_bytes_max = std::uint64_t{1} << 30;

std::string_view without_white(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(white), text.size());
  return text.substr(begin, text.find_last_not_of(white) + 1 - begin);
}

/// Finds out, part by part, whether a content has a second line that holds anything, behind those that are skipped.
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
  void take_line(std::string_view part) {
    if (skipped_ > 0 || holds_ || part.find_first_not_of(white) == std::string_view::npos) return;
    holds_ = true;
    is_one_ = !was_one_;
  }
  void end_line() {
    skipped_ -= skipped_ > 0 ? 1 : 0;
    was_one_ |= std::exchange(holds_, false);
  }

  std::uint64_t skipped_;
  bool holds_ = false;    // the present line holds something
  bool was_one_ = false;  // a line before it did
  bool is_one_ = true;
};

/// Reads into `first`, which keeps what was read before a fault.
void read_first(ByteSource& source, std::size_t bytes_max, std::uint64_t skipped, FirstContent& first) {
  std::array<char, look_bytes> part;
  OneLine lines(skipped);
  std::uint64_t total = 0;
  const auto is_wanted = [&] {
    return first.bytes.size() < bytes_max || (lines.is_one() && total < search_bytes_max);
  };
  for (ByteSource::Result read; !read.end && is_wanted();) {
    const std::size_t room = bytes_max - first.bytes.size();
    read = source.read({part.data(), room > 0 ? std::min(room, part.size()) : part.size()});
    const std::string_view bytes(part.data(), read.bytes);
    lines.take(bytes);
    first.bytes += bytes.substr(0, room);
    total += bytes.size();
    first.is_all = read.end && total == first.bytes.size();
    first.is_one_line = read.end && lines.is_one();
  }
}

bool is_one_object(std::string_view line) {
  return line.starts_with('{') && line.ends_with('}') && !holds_several_objects(line);
}

/// Whether the line is of JSON: a whole object or array, or the beginning or the end of one. Nobody's record of CSV
/// is.
bool is_json(std::string_view line) {
  if (line.ends_with(',')) line.remove_suffix(1);
  if (line.starts_with('}') || line.starts_with(']')) return true;
  if (line.starts_with('"') && line.find("\":") != std::string_view::npos) return true;  // a member
  if (line.starts_with('{')) return line.ends_with('}') || without_white(line.substr(1)).starts_with('"');
  return line.starts_with('[') && (line.ends_with(']') || without_white(line.substr(1)).starts_with('{'));
}

bool is_number_or_none(std::string_view field, const config::InputSettings& settings) {
  constexpr std::array none{"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "-", "."};
  const std::string_view text = without_white(field);
  return !std::isnan(read_csv_number(text, settings.decimal)) || std::ranges::find(none, text) != none.end();
}

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
                                          std::size_t bytes_max) {
  if (is_standard_input(path) || !stored_size(path)) return std::nullopt;
  FirstContent first;
  try {
    read_first(*open_lines(path, settings), bytes_max, settings.skip_lines, first);
  } catch (const Failure& failure) {
    if (failure.code() != Exit::io) throw;
  }
  return first;
}

bool has_header(const config::InputSettings& settings) noexcept {
  return settings.format == config::Format::csv && settings.header;
}

std::string_view behind_skipped(std::string_view first, const config::InputSettings& settings) {
  first = without_mark(first);
  for (std::uint64_t i = 0; i < settings.skip_lines && !first.empty(); ++i) {
    first.remove_prefix(std::min(first.find('\n'), first.size() - 1) + 1);
  }
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
    if (end == std::string_view::npos && !first.is_all) break;
    const std::string_view line = without_line_end(text.substr(0, end));
    if (line.find_first_not_of(white) != std::string_view::npos) lines.push_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

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
    if ((c == '}' || c == ']') && --depth == 0) return without_white(line.substr(i + 1)).starts_with('{');
  }
  return false;
}

bool looks_like_record(std::string_view line, const config::InputSettings& settings) {
  const std::string_view text = without_white(without_mark(line));
  if (settings.format == config::Format::json_lines) return is_one_object(text);
  return !is_json(text) && has_fields_of_record(line, settings);
}

bool may_decide(const FirstContent& first, const config::InputSettings& settings,
                const RecordShape& looks_like_record) {
  if (has_header(settings)) return true;
  const std::vector<std::string_view> lines = first_lines(first, settings);
  if (lines.empty() || first.is_one_line) return first.is_one_line && !look_like_records(lines, looks_like_record);
  return lines.size() > 1 && !looks_like_record(lines.front()) &&
         !look_like_records(std::span(lines).subspan(1), looks_like_record);
}

std::optional<FirstContent> FirstContents::of(const std::string& path) {
  std::optional<FirstContent> first = first_content(path, settings_, look_bytes);
  if (!first || !first->is_one_line || settings_.files.size() < 2) return first;
  if (!hold_records_) hold_records_ = hold_records();
  first->is_one_line = !*hold_records_;
  return first;
}

/// Whether some file has records. That of a file which cannot be read twice is not known, and so it may.
bool FirstContents::hold_records() const {
  return std::ranges::any_of(settings_.files, [&](const std::string& path) {
    const std::optional<FirstContent> first = first_content(path, settings_, look_bytes);
    return !first || look_like_records(first_lines(*first, settings_), looks_like_record_);
  });
}

}  // namespace nustream::decode
