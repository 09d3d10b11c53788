// Gives the lines of files or of standard input one at a time, for input that is read once and not in bulk.
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

/// Hands out the lines of the files in order, whether the files are compressed or not. To be used by one thread at a
/// time.
class Lines {
 public:
  /// A line of more than `line_bytes_max` bytes is reported as over_long without being held in memory. Throws
  /// Failure(io) where a file is missing, here or when its turn comes.
  Lines(std::vector<std::string> files, std::size_t line_bytes_max);

  enum class Found : std::uint8_t {
    line,         ///< text() is the line
    over_long,    ///< a line that was too long; its bytes are gone
    nothing_yet,  ///< without `wait`: a pipe has no more at hand
    interrupted,  ///< a signal arrived, or nothing came for a moment; call again to go on
    end,
  };
  [[nodiscard]] Found next(bool wait);

  /// The line with its newline, valid until the next call. LineBuffer::slack bytes beyond either end may be read.
  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  /// Whether the line is the first of its file, and the path of that file.
  [[nodiscard]] bool is_first() const noexcept { return first_; }
  [[nodiscard]] const std::string& path() const noexcept { return files_[opened_ - 1]; }

 private:
  std::vector<std::string> files_;
  decode::LineBuffer buffer_;
  std::unique_ptr<decode::ByteSource> source_;
  std::size_t opened_ = 0;
  std::string_view text_;
  bool first_ = false;
  bool fresh_ = false;  // no line of this file was given yet
};

}  // namespace nustream::local
