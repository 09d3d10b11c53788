// Framing: bytes to whole lines. A record ends at its newline whatever it holds, so nothing here looks at quotes.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "decode/byte_source.h"

namespace nustream::decode {

/// Hands out runs of whole lines of a source, in flat memory however long a line is.
///
/// The bytes of a run may be read up to `slack` bytes beyond either end, so that decoders can load whole vectors.
class LineBuffer {
 public:
  static constexpr std::size_t slack = 128;

  /// A line of more than `line_bytes_max` bytes (its newline not counted) never takes more memory than that.
  explicit LineBuffer(std::size_t line_bytes_max);

  enum class State {
    lines,        ///< lines() holds at least one line
    over_long,    ///< the next line was too long: only its beginning is left; it counts as a line
    end,          ///< every line has been given
    interrupted,  ///< a signal arrived, or nothing for a moment; call again to go on
  };

  /// Reads on until there is a line, unless some are left. The last line need not have a
  /// newline where the source ends cleanly: it gets one. What a failing source left of a line is never given.
  [[nodiscard]] State advance(ByteSource& source);

  /// Whole lines, each with its newline; valid until the next advance().
  [[nodiscard]] std::string_view lines() const noexcept { return {data() + begin_, lines_end_ - begin_}; }
  /// Marks the first `bytes` of lines() as used.
  void consume(std::size_t bytes) noexcept { begin_ += bytes; }

  /// Where the state is over_long: the first `line_bytes_max` bytes of that line; valid until the next advance().
  [[nodiscard]] std::string_view over_long_begin() const noexcept { return {data(), line_bytes_max_}; }

  /// Forgets everything: for the next file.
  void reset() noexcept;

 private:
  [[nodiscard]] char* data() const noexcept { return memory_.get() + slack; }
  void make_room() noexcept;
  void accept(std::size_t bytes) noexcept;
  void forget_line() noexcept { begin_ = lines_end_ = end_; }
  [[nodiscard]] bool drop(std::size_t bytes) noexcept;
  [[nodiscard]] bool finish() noexcept;

  std::size_t line_bytes_max_;
  std::size_t capacity_;
  std::unique_ptr<char[]> memory_;
  std::size_t begin_ = 0;      // of the first byte not consumed
  std::size_t lines_end_ = 0;  // behind the last newline
  std::size_t end_ = 0;        // of the bytes read
  bool dropping_ = false;      // inside a line that is too long, whose beginning stays
};

}  // namespace nustream::decode
