// Lines that a buffer has let go, some of which are asked for again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nustream::decode {

/// The line that `back` others follow in `lines`, whole lines; without its newline. Empty where there are not so
/// many.
[[nodiscard]] std::optional<std::string_view> line_from_end(std::string_view lines, std::uint64_t back) noexcept;

/// The last of the lines that were added: some kilobytes of them, and always the last one.
class RecentLines {
 public:
  /// Whole lines, right behind those before them; `end` is the ordinal behind the last.
  void add(std::string_view lines, std::uint64_t end);
  /// The line with that ordinal, without its newline; empty where it is gone.
  [[nodiscard]] std::optional<std::string_view> find(std::uint64_t ordinal) const noexcept;

 private:
  std::string text_;
  std::uint64_t end_ = 0;
};

}  // namespace nustream::decode
