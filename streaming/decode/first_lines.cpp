#include "decode/first_lines.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "decode/byte_source.h"
#include "decode/csv_line.h"
#include "decode/joined_quotes.h"
#include "error.h"

namespace nustream::decode {
namespace {

constexpr std::size_t lines_max = 100;
constexpr std::string_view white = " \t\r\n";

std::string_view without_white(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(white), text.size());
  return text.substr(begin, text.find_last_not_of(white) + 1 - begin);
}

/// Finds out, part by part, whether a content has one line that holds anything.
class OneLine {
 public:
  void take(std::string_view part) {
    if (!ended_) {
      const std::size_t end = part.find('\n');
      if (end == std::string_view::npos) return;
      ended_ = true;
      part.remove_prefix(end);
    }
    is_one_ = is_one_ && part.find_first_not_of(white) == std::string_view::npos;
  }
  [[nodiscard]] bool is_one() const noexcept { return is_one_; }

 private:
  bool ended_ = false;
  bool is_one_ = true;
};

/// Reads into `first`, which keeps what was read before a fault.
void read_first(ByteSource& source, std::size_t bytes_max, FirstContent& first) {
  std::array<char, look_bytes> part;
  OneLine lines;
  std::uint64_t total = 0;
  for (ByteSource::Result read; !read.end && (first.bytes.size() < bytes_max || lines.is_one());) {
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

/// How many fields the line has; 0 where it has control bytes or is no CSV.
std::size_t fields_of(std::string_view line, const config::InputSettings& settings) {
  const bool is_odd = std::ranges::any_of(
      line, [&](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != settings.delimiter; });
  std::vector<std::string_view> fields;
  std::string unquoted;
  if (is_odd || split_csv_line(line, settings.delimiter, line.size() + 1, fields, unquoted) != CsvFault::none)
    return 0;
  return fields.size();
}

}  // namespace

std::optional<FirstContent> first_content(const std::string& path, const config::InputSettings& settings,
                                          std::size_t bytes_max) {
  if (is_standard_input(path) || !stored_size(path)) return std::nullopt;
  FirstContent first;
  try {
    read_first(*open_lines(path, settings), bytes_max, first);
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
    const std::string_view line = without_white(text.substr(0, end));
    if (!line.empty()) lines.push_back(line);
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

bool others_look_like_records(const std::vector<std::string_view>& lines, const config::InputSettings& settings) {
  if (lines.size() < 2) return false;
  const bool is_csv = settings.format == config::Format::csv;
  const std::size_t wanted = has_header(settings) ? fields_of(lines.front(), settings) : settings.columns.size();
  const auto records = std::count_if(lines.begin() + 1, lines.end(), [&](std::string_view line) {
    return is_csv ? wanted > 0 && fields_of(line, settings) == wanted : is_one_object(line);
  });
  return 2 * static_cast<std::size_t>(records) > lines.size() - 1;
}

bool may_decide(const FirstContent& first, const config::InputSettings& settings) {
  if (has_header(settings) || first.is_one_line) return true;
  const std::vector<std::string_view> lines = first_lines(first, settings);
  return lines.size() > 1 && !others_look_like_records(lines, settings);
}

}  // namespace nustream::decode
