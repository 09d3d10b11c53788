// The input of a replay as the lane counts it: which records, how often, from where.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "config/config.h"
#include "decode/reader.h"
#include "nustream/privacy/participation.h"
#include "replay/options.h"

namespace nustream::replay {

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

/// Resolves --from, --to and --passes, counting records or looking for a time where that is needed. Failure(usage)
/// for text that is neither an ordinal nor a time.
[[nodiscard]] Window resolve_window(const config::Config& config, const Options& options);

/// k = passes, b = the steps between two passes of one record (math: docs/notation.md). Failure(configuration)
/// where a pass is shorter than a minibatch.
[[nodiscard]] privacy::Participation participation(const Window& window, std::uint64_t minibatch);

/// A reader of the rest of the window from `position` on, pass after pass.
[[nodiscard]] std::unique_ptr<decode::Reader> open_window(const config::Config& config, const Window& window,
                                                          std::uint64_t position);

}  // namespace nustream::replay
