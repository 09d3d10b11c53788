// Divides a source into whole lines in one block of memory: what is left of the last read is moved to the front, and
// new bytes are read behind it. The memory holds one line of the largest size and one read.
#include "decode/line_buffer.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace nustream::decode {
namespace {

// Large enough to need few system calls, and small enough to stay in a second-level cache between reading and
// decoding.
constexpr std::size_t read_bytes = std::size_t{1} << 18;

}  // namespace

LineBuffer::LineBuffer(std::size_t line_bytes_max)
    : line_bytes_max_(line_bytes_max),
      capacity_(line_bytes_max + read_bytes),
      memory_(std::make_unique<char[]>(capacity_ + 1 + 2 * slack)) {}

void LineBuffer::reset() noexcept {
  begin_ = lines_end_ = end_ = 0;
  dropping_ = false;
}

// Moves the bytes that were not consumed to the front. Views of lines that were given become invalid.
void LineBuffer::make_room() noexcept {
  std::memmove(data(), data() + begin_, end_ - begin_);
  end_ -= begin_;
  lines_end_ = begin_ = 0;
}

// Takes note of bytes that were read behind end_.
void LineBuffer::accept(std::size_t bytes) noexcept {
  const void* const newline = ::memrchr(data() + end_, '\n', bytes);
  if (newline != nullptr) lines_end_ = static_cast<std::size_t>(static_cast<const char*>(newline) - data()) + 1;
  end_ += bytes;
}

// Drops bytes after the kept beginning of a line that is too long, up to the line's newline. Returns true once the
// newline came.
bool LineBuffer::drop(std::size_t bytes) noexcept {
  const void* const newline = std::memchr(data() + end_, '\n', bytes);
  if (newline == nullptr) return false;
  accept(bytes);
  begin_ = static_cast<std::size_t>(static_cast<const char*>(newline) - data()) + 1;
  return true;
}

// Ends the last line of the source; false where nothing is left.
bool LineBuffer::finish() noexcept {
  if (end_ == 0) return false;
  data()[end_++] = '\n';  // one byte of the memory is kept for it
  lines_end_ = end_;
  return true;
}

LineBuffer::State LineBuffer::advance(ByteSource& source) {
  if (begin_ != lines_end_) return State::lines;
  make_room();
  while (true) {
    const ByteSource::Result result = source.read({data() + end_, std::min(capacity_ - end_, read_bytes)});
    if (result.interrupted) return State::interrupted;
    if (dropping_) {
      const bool ended = drop(result.bytes);
      if (!ended && !result.end) continue;
      // The line that is too long was the last one and has no newline.
      if (!ended) forget_line();
      dropping_ = false;
      return State::over_long;
    }
    // A last line without a newline gets one. Where the source fails instead, read() has thrown, and the
    // cut line is never given.
    if (result.end) return finish() ? State::lines : State::end;
    accept(result.bytes);
    // Each byte is searched once, when it comes: accept() looks for a newline in the new bytes alone.
    if (lines_end_ != 0) return State::lines;
    // Only the beginning of the line is kept from here on. What follows is read over it until the newline comes.
    if (end_ > line_bytes_max_) {
      dropping_ = true;
      end_ = line_bytes_max_;
    }
  }
}

LineBuffer::Behind LineBuffer::read_behind(ByteSource& source) {
  if (end_ == capacity_) return Behind::full;
  const ByteSource::Result result = source.read({data() + end_, std::min(capacity_ - end_, read_bytes)});
  if (result.interrupted) return Behind::interrupted;
  if (!result.end) {
    accept(result.bytes);
    return Behind::more;
  }
  // The last line has no newline yet.
  if (lines_end_ != end_) static_cast<void>(finish());
  return Behind::end;
}

namespace {

constexpr std::size_t kept_bytes = std::size_t{1} << 14;

// The whole lines at the end of `lines` that have at most kept_bytes together; always at least the last line.
std::string_view last_of(std::string_view lines) {
  if (lines.size() <= kept_bytes) return lines;
  const std::size_t newline = lines.find('\n', lines.size() - kept_bytes - 1);
  if (newline + 1 < lines.size()) return lines.substr(newline + 1);
  return lines.substr(lines.rfind('\n', lines.size() - 2) + 1);
}

}  // namespace

std::optional<std::string_view> line_from_end(std::string_view lines, std::uint64_t back) noexcept {
  // Backwards, since few lines at the end are asked for.
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
  // Erasing moves the text, so that it is done only when twice as much has gathered.
  if (text_.size() > 2 * kept_bytes) text_.erase(0, text_.size() - last_of(text_).size());
  end_ = end;
}

std::optional<std::string_view> RecentLines::find(std::uint64_t ordinal) const noexcept {
  if (ordinal >= end_) return std::nullopt;
  return line_from_end(text_, end_ - 1 - ordinal);
}

}  // namespace nustream::decode
