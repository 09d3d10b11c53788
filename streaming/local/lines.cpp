// Lines of several files in order, one at a time, from pipes too: without `wait` a caller can do something else while
// a pipe has nothing.
#include "local/lines.h"

#include <utility>

namespace nustream::local {

Lines::Lines(std::vector<std::string> files, std::size_t line_bytes_max)
    : files_(std::move(files)), buffer_(line_bytes_max) {
  // A missing file is reported now, not after hours of reading the files before it.
  for (const std::string& file : files_) static_cast<void>(decode::stored_size(file));
}

Lines::Found Lines::next(bool wait) {
  while (true) {
    if (!buffer_.lines().empty()) {
      const std::string_view lines = buffer_.lines();
      text_ = lines.substr(0, lines.find('\n') + 1);
      buffer_.consume(text_.size());
      first_ = std::exchange(fresh_, false);
      return Found::line;
    }
    if (!source_) {
      if (opened_ == files_.size()) return Found::end;
      source_ = decode::open_source(files_[opened_++]);
      buffer_.reset();
      fresh_ = true;
    }
    if (!wait && !source_->ready(0)) return Found::nothing_yet;
    switch (buffer_.advance(*source_)) {
      case decode::LineBuffer::State::interrupted:
        return Found::interrupted;
      case decode::LineBuffer::State::over_long:
        first_ = std::exchange(fresh_, false);
        return Found::over_long;
      case decode::LineBuffer::State::end:
        source_.reset();
        break;
      case decode::LineBuffer::State::lines:
        break;
    }
  }
}

}  // namespace nustream::local
