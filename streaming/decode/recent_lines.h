// Keeps some lines that a buffer has dropped, for those that are asked for again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nustream::decode {

/// The line that `back` other lines follow in `lines`, which are whole; without its newline. Empty where there are
/// not so many.
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
