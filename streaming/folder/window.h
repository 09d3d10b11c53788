// Which records of an input a lane takes, how often, and from where: as the lane and its ledger count them.
#pragma once

#include <cstdint>
#include <optional>

namespace nustream::folder {

/// The window [first, end) of ordinals (offsets, in a recorded segment) and how often it is read. Positions count on
/// through the passes: pass p of ordinal i is at first + p·(end − first) + (i − first).
struct Window {
  std::uint64_t first = 0;
  std::optional<std::uint64_t> end;  ///< needed for several passes; else the input's own end
  std::uint64_t passes = 1;

  /// The ordinal that a position stands for.
  [[nodiscard]] std::uint64_t ordinal(std::uint64_t position) const noexcept;
  /// The furthest ordinal that positions below `position` have touched: the end of a ledger range.
  [[nodiscard]] std::uint64_t touched(std::uint64_t position) const noexcept;
};

}  // namespace nustream::folder
