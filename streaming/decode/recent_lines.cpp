#include "decode/recent_lines.h"

#include <cstddef>

namespace nustream::decode {
namespace {

constexpr std::size_t kept_bytes = std::size_t{1} << 14;

// The whole lines at the end of `lines` that have at most kept_bytes together; the last one in any case.
std::string_view last_of(std::string_view lines) {
  if (lines.size() <= kept_bytes) return lines;
  const std::size_t newline = lines.find('\n', lines.size() - kept_bytes - 1);
  if (newline + 1 < lines.size()) return lines.substr(newline + 1);
  return lines.substr(lines.rfind('\n', lines.size() - 2) + 1);
}

}  // namespace

std::optional<std::string_view> line_from_end(std::string_view lines, std::uint64_t back) noexcept {
  while (!lines.empty()) {
    lines.remove_suffix(1);
    const std::size_t begin = lines.rfind('\n') + 1;
    if (back-- == 0) return lines.substr(begin);
    lines = lines.substr(0, begin);
  }
  return std::nullopt;
}

void RecentLines::add(std::string_view lines, std::uint64_t end) {
  const std::string_view last = last_of(lines);
  if (last.size() != lines.size()) text_.clear();
  text_ += last;
  if (text_.size() > 2 * kept_bytes) text_.erase(0, text_.size() - last_of(text_).size());
  end_ = end;
}

std::optional<std::string_view> RecentLines::find(std::uint64_t ordinal) const noexcept {
  if (ordinal >= end_) return std::nullopt;
  return line_from_end(text_, end_ - 1 - ordinal);
}

}  // namespace nustream::decode
