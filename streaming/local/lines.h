// Lines of files or of standard input, one at a time, for what is read once and not in bulk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "decode/byte_source.h"
#include "decode/line_buffer.h"

namespace nustream::local {

/// Hands out the lines of the files in order, compressed or not. One thread at a time.
class Lines {
 public:
  /// A line of more than `line_bytes_max` bytes is given as over_long, in flat memory. Failure(io) where a file is
  /// missing, here or when it is reached.
  Lines(std::vector<std::string> files, std::size_t line_bytes_max);

  enum class Found : std::uint8_t {
    line,         ///< text() is it
    over_long,    ///< a line that was too long, and is gone
    nothing_yet,  ///< without `wait`: a pipe has no more at hand
    interrupted,  ///< a signal arrived, or nothing for a moment; call again to go on
    end,
  };
  [[nodiscard]] Found next(bool wait);

  /// The line with its newline, until the next call. Readable LineBuffer::slack bytes beyond either end.
  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  /// Whether it is the first of its file, and of which file.
  [[nodiscard]] bool is_first() const noexcept { return first_; }
  [[nodiscard]] const std::string& path() const noexcept { return files_[opened_ - 1]; }

 private:
  std::vector<std::string> files_;
  decode::LineBuffer buffer_;
  std::unique_ptr<decode::ByteSource> source_;
  std::size_t opened_ = 0;
  std::string_view text_;
  bool first_ = false;
  bool fresh_ = false;  // nothing was given of this file yet
};

}  // namespace nustream::local
