// Divides bytes into whole lines. A record ends at its newline, whatever the record holds. So quotation marks are not
// looked at here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "decode/byte_source.h"

namespace nustream::decode {

/// Hands out runs of whole lines of a source. It takes bounded memory, however long a line is.
///
/// Up to `slack` bytes beyond either end of a run may be read, so that decoders can load whole vectors.
class LineBuffer {
 public:
  static constexpr std::size_t slack = 128;

  /// A line of more than `line_bytes_max` bytes (without its newline) never takes more memory than that.
  explicit LineBuffer(std::size_t line_bytes_max);

  enum class State {
    lines,        ///< lines() holds at least one line
    over_long,    ///< the next line is too long; only its beginning is kept, and it counts as a line
    end,          ///< all lines have been given
    interrupted,  ///< a signal arrived, or nothing came for a moment; call again to go on
  };

  /// Reads on until there is a line, unless some are left. Where the source ends cleanly, its last line gets a
  /// newline if it has none. Where the source fails, an incomplete line is never given.
  [[nodiscard]] State advance(ByteSource& source);

  enum class Behind {
    more,         ///< bytes were added; lines() may hold more lines
    full,         ///< there is no room for more before lines are consumed
    end,          ///< the source has ended, and lines() holds all that is left of it
    interrupted,  ///< as above; call again to go on
  };
  /// Reads once more behind the lines that are there, which stay. Contract: advance() has returned lines or
  /// over_long.
  [[nodiscard]] Behind read_behind(ByteSource& source);

  /// Whole lines, each with its newline, valid until the next advance().
  [[nodiscard]] std::string_view lines() const noexcept { return {data() + begin_, lines_end_ - begin_}; }
  /// Marks the first `bytes` of lines() as used.
  void consume(std::size_t bytes) noexcept { begin_ += bytes; }

  /// The first `line_bytes_max` bytes of the line that is too long, where the state is over_long; valid until the
  /// next advance().
  [[nodiscard]] std::string_view over_long_begin() const noexcept { return {data(), line_bytes_max_}; }

  /// Forgets everything, for the next file.
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
  std::size_t begin_ = 0;      // where the first byte is that was not consumed
  std::size_t lines_end_ = 0;  // behind the last newline
  std::size_t end_ = 0;        // behind the last byte that was read
  bool dropping_ = false;      // inside a line that is too long, whose beginning is kept
};

/// The line that `back` other lines follow in `lines`, which are whole; without its newline. Empty where `lines` are
/// fewer.
[[nodiscard]] std::optional<std::string_view> line_from_end(std::string_view lines, std::uint64_t back) noexcept;

/// The last of the lines that were added: some kilobytes, and always the last line.
class RecentLines {
 public:
  /// Adds whole lines, which follow those added before; `end` is the ordinal after the last.
  void add(std::string_view lines, std::uint64_t end);
  /// The line with that ordinal, without its newline; empty where it was dropped.
  [[nodiscard]] std::optional<std::string_view> find(std::uint64_t ordinal) const noexcept;

 private:
  std::string text_;
  std::uint64_t end_ = 0;
};

}  // namespace nustream::decode
