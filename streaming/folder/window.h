// Which records of an input a lane takes, and how often, as positions and as ordinals.
#pragma once

#include <cstdint>
#include <optional>

namespace nustream::folder {

/// The window [first, end) of ordinals (offsets, in a recorded segment) and how often it is read. Positions count on
/// through the passes: in pass p, counted from 0, the record with ordinal i is at position first + p·(end − first) +
/// (i − first). For example, in the second pass over the window [10, 20), the record 13 is at position 23.
struct Window {
  std::uint64_t first = 0;
  std::optional<std::uint64_t> end;  ///< needed for several passes; without it the window ends with the input
  std::uint64_t passes = 1;

  /// The ordinal that a position stands for.
  [[nodiscard]] std::uint64_t ordinal(std::uint64_t position) const noexcept;
  /// One past the furthest ordinal that positions below `position` have touched. It is the end of a ledger range.
  [[nodiscard]] std::uint64_t touched(std::uint64_t position) const noexcept;
};

}  // namespace nustream::folder
